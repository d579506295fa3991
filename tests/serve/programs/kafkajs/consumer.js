// A consumer of kafkajs that says what happens to it. Arguments: PORT TOPIC. A line on standard input lets it close.
const { Kafka, logLevel } = require('kafkajs')

const [port, topic] = process.argv.slice(2)
const kafka = new Kafka({ brokers: [`127.0.0.1:${port}`], logLevel: logLevel.ERROR })
const consumer = kafka.consumer({
  groupId: 'g',
  heartbeatInterval: 150,
  sessionTimeout: 6000,
  metadataMaxAge: 200,
  maxWaitTimeInMs: 100
})
let owned = []

function tell (what, partitions) {
  console.log([what, ...partitions].join(' '))
}

consumer.on(consumer.events.REBALANCING, () => {
  tell('revoked', owned)
  owned = []
})
consumer.on(consumer.events.GROUP_JOIN, ({ payload }) => {
  const given = Object.entries(payload.memberAssignment)
  tell('revoked', owned)
  owned = given.flatMap(([name, partitions]) => partitions.map(partition => `${name}-${partition}`))
  tell('assigned', owned)
})

async function run () {
  await consumer.connect()
  await consumer.subscribe({ topics: [topic], fromBeginning: true })
  await consumer.run({
    autoCommitInterval: 200,
    eachMessage: async ({ topic, partition, message }) =>
      console.log(`read ${topic}-${partition} ${message.offset} ${message.value}`)
  })
}

process.stdin.once('data', async () => {
  await consumer.disconnect()
  console.log('closed')
  process.exit(0)
})
run().catch(error => {
  console.error(error)
  process.exit(1)
})
