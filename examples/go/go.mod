module example.org/coordinator

go 1.23
