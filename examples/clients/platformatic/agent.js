// An agent: a consumer of @platformatic/kafka that does what lines of JSON tell it (docs/clients.md).
// This client has no callbacks that hold it, and the agent says so in its first line.
import { createInterface } from 'node:readline'
import { Consumer, MessagesStreamFallbackModes, MessagesStreamModes } from '@platformatic/kafka'

const UNRELEASED_INSTANCE_ID = 111
let consumer = null
let stream = null
let paused = false
let queue = Promise.resolve()
const positions = new Map()

function tell (event, fields = {}) {
  process.stdout.write(JSON.stringify({ event, ...fields }) + '\n')
}

// Kafka's code of an error that holds others; -1 where it has none.
function code (error) {
  const found = error?.apiCode ?? error?.response?.errorCode
  if (found) return found
  for (const inner of [...(error?.errors ?? []), error?.cause]) {
    if (inner && code(inner) !== -1) return code(inner)
  }
  return -1
}

function failed (error) {
  tell('error', { code: code(error), text: String(error?.message ?? error), fatal: false })
}

function make (command) {
  consumer = new Consumer({
    clientId: 'agent',
    bootstrapBrokers: [command.bootstrap],
    groupId: command.group,
    groupProtocol: 'consumer',
    autocommit: command.autoCommit ? 5000 : false,
    ...(command.instance ? { groupInstanceId: command.instance } : {})
  })
  consumer.on('consumer:heartbeat:error', ({ error }) => failed(error))
}

async function subscribe (command) {
  if (consumer === null) make(command)
  const before = stream
  stream = await consumer.consume({
    topics: command.topics,
    mode: MessagesStreamModes.COMMITTED,
    fallbackMode: MessagesStreamFallbackModes.EARLIEST
  })
  stream.on('error', error => { failed(error); again(command) })
  stream.on('data', message => {
    const partition = `${message.topic}-${message.partition}`
    positions.set(partition, { topic: message.topic, partition: message.partition, offset: message.offset })
    tell('position', { partition, offset: Number(message.offset) + 1 })
  })
  if (paused) stream.pause()
  await before?.close()
}

// An application that wants to go on consumes again after an error.
function again (command) {
  setTimeout(() => todo({ ...command, do: 'subscribe' }), 300)
}

async function commit () {
  const offsets = [...positions.values()].map(one => ({ ...one, offset: one.offset + 1n, leaderEpoch: 0 }))
  try {
    if (offsets.length > 0) await consumer.commit({ offsets })
    tell('committed', { error: 0 })
  } catch (error) {
    tell('committed', { error: code(error) })
  }
}

function todo (command) {
  queue = queue.then(() => act(command)).catch(failed)
}

async function act (command) {
  switch (command.do) {
    case 'subscribe':
      try {
        return await subscribe(command)
      } catch (error) {
        if (code(error) !== UNRELEASED_INSTANCE_ID) again(command)
        throw error
      }
    case 'commit':
      commit() // the application goes on meanwhile
      break
    case 'pause':
      paused = true
      stream?.pause()
      break
    case 'poll':
      paused = false
      stream?.resume()
      break
    case 'close':
      await consumer.close(true)
      tell('closed')
      process.exit(0)
  }
}

tell('uses', { uses: ['commit', 'errors', 'positions', 'subscribe'] })
createInterface({ input: process.stdin })
  .on('line', line => {
    const command = JSON.parse(line)
    if (command.do === 'crash') process.exit(1)
    todo(command)
  })
  .on('close', () => process.exit(0)) // the harness went
