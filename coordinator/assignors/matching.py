"""A heaviest matching between rows and the same number of columns, for `range`.

The algorithm is shortest augmenting paths (Jonker and Volgenant), over the entries that have a weight.
"""

from __future__ import annotations

import heapq
from collections.abc import Mapping, Sequence


def heaviest_matching(weights: Sequence[Mapping[int, int]]) -> list[int]:
    """A column for each row, all different, with the largest sum of weights.

    `weights[row]` maps columns (0 .. number of rows - 1) to positive weights; all others weigh nothing.
    Rows that end without a weight take the columns left over, both in ascending order.
    """
    matching = _Matching(weights)
    for row in range(len(weights)):
        matching.add(row)
    return matching.columns()


class _Matching:
    """A heaviest matching of the rows added so far.

    Each row has, besides its own entries, a private column (number of rows + row) that weighs nothing.
    """

    def __init__(self, weights: Sequence[Mapping[int, int]]) -> None:
        self._size = len(weights)
        self._weights = [{**of_row, self._size + row: 0} for row, of_row in enumerate(weights)]
        self._row_of: dict[int, int] = {}
        self._column_of: dict[int, int] = {}
        self._prices = [0] * (2 * self._size)

    def add(self, new_row: int) -> None:
        """Match one more row along the shortest augmenting path, by Dijkstra's algorithm on reduced costs."""
        row, reached, regained = new_row, 0, 0
        distances: dict[int, int] = {}
        taken_by: dict[int, int] = {}
        settled: set[int] = set()
        heap: list[tuple[int, int]] = []
        while True:
            for column, weight in self._weights[row].items():
                distance = reached + regained + self._prices[column] - weight
                if column not in settled and (column not in distances or distance < distances[column]):
                    distances[column], taken_by[column] = distance, row
                    heapq.heappush(heap, (distance, column))
            reached, column = heapq.heappop(heap)
            while column in settled:
                reached, column = heapq.heappop(heap)
            settled.add(column)
            if column not in self._row_of:
                break
            row = self._row_of[column]
            regained = self._weights[row][column] - self._prices[column]
        for passed in settled:
            self._prices[passed] += reached - distances[passed]
        self._augment(column, taken_by, new_row)

    def _augment(self, column: int, taken_by: Mapping[int, int], new_row: int) -> None:
        while True:
            row = taken_by[column]
            given_up = self._column_of.get(row, column)
            self._row_of[column], self._column_of[row] = row, column
            if row == new_row:
                return
            column = given_up

    def columns(self) -> list[int]:
        """The column of each row."""
        left_over = iter(sorted(set(range(self._size)) - self._row_of.keys()))
        columns = [self._column_of[row] for row in range(self._size)]
        return [column if column < self._size else next(left_over) for column in columns]
