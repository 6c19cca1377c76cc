import assert from 'node:assert/strict'
import { test } from 'node:test'
import { run } from './harness.mjs'

const report = (what, unread = [], read = []) => ({ findings: [{ what, place: 'a:1', quote: 'q' }], read, unread })
const merged = { answer: 'so', findings: [{ what: 'm', places: ['a:1'] }], contradictions: [] }
const shardOf = call => call.prompt.split('its end:\n')[1].split('\n')
const seats = (change = {}) => call => call.label in change ? change[call.label] : call.label === 'merge' ? merged : report(call.label, [], shardOf(call))

const shards = async given => {
  const { calls } = await run('crawl', { question: 'why', ...given }, seats())
  return calls.filter(call => call.label !== 'merge').map(shardOf)
}

test('each shard is read by one cheap seat and all are merged by one that judges', async () => {
  const { result, calls } = await run('crawl', { question: 'why', shards: [['a', 'b'], ['c']] }, seats())
  assert.deepEqual(calls.map(call => [call.label, call.model]), [['crawl:shard 1', 'haiku'], ['crawl:shard 2', 'haiku'], ['merge', 'opus']])
  assert.ok(calls[2].prompt.includes('crawl:shard 1') && calls[2].prompt.includes('crawl:shard 2'))
  assert.deepEqual(result, { blocked: false, reasons: [], ...merged, deadShards: [], unread: [] })
})

test('shards come as lists, by name, as one flat list or as lines', async () => {
  assert.deepEqual(await shards({ shards: [['a', 'b'], [], ['c', 7, ' ']] }), [['a', 'b'], ['c']])
  assert.deepEqual(await shards({ shards: { docs: ['a'], src: 'b' } }), [['a'], ['b']])
  assert.deepEqual(await shards({ shards: ['a', 'b', 'c'], shardSize: 2 }), [['a', 'b'], ['c']])
  assert.deepEqual(await shards({ shards: ['a', 'b'], shardSize: 'x' }), [['a', 'b']])
  assert.deepEqual(await shards({ shards: 'a\n\nb' }), [['a', 'b']])
  assert.deepEqual(await shards({ shards: '[["a"],["b"]]' }), [['a'], ['b']])
})

test('a dead shard is named, its paths are unread, and the rest is merged', async () => {
  const { result } = await run('crawl', { shards: { one: ['a'], two: ['b', 'c'] } }, seats({ 'crawl:two': null }))
  assert.equal(result.blocked, true)
  assert.deepEqual(result.deadShards, ['two'])
  assert.deepEqual(result.unread, ['b', 'c'])
  assert.deepEqual(result.reasons, ['no report from two'])
  assert.equal(result.answer, 'so')
})

test('a path that a seat did not read is not forgotten', async () => {
  const { result } = await run('crawl', { shards: [['a', 'b']] }, seats({ 'crawl:shard 1': report('x', ['b: too large'], ['a']) }))
  assert.deepEqual(result.unread, ['b: too large'])
  assert.deepEqual(result.reasons, ['1 paths were not read'])
  assert.equal(result.blocked, true)
})

test('a path that stands neither in read nor in unread was not read', async () => {
  for (const [read, unread, wanted] of [
    [['a'], [], ['b', 'c']],
    [['a', 'b', 'x'], [], ['c']],
    [['a'], ['b (too large)'], ['b (too large)', 'c']],
    [['./a', 'b ', '`c`'], [], []],
    [[], ['all of them'], ['all of them', 'a', 'b', 'c']],
  ]) {
    const { result } = await run('crawl', { shards: [['a', 'b', 'c']] }, seats({ 'crawl:shard 1': report('x', unread, read) }))
    assert.deepEqual(result.unread, wanted)
    assert.equal(result.blocked, wanted.length > 0)
  }
})

test('a report in another shape is none', async () => {
  const good = report('x', [], ['a'])
  for (const bad of [
    { ...good, findings: [null] }, { ...good, findings: ['text'] }, { ...good, findings: [{ place: 'a:1' }] },
    { ...good, findings: [{ what: ' ', place: 'a:1' }] }, { findings: [], read: ['a'] }, { findings: [], unread: [] },
    { ...good, read: 'a' }, { ...good, unread: 'b' }, { ...good, read: [null] },
  ]) {
    for (const merge of [merged, null]) {
      const { result } = await run('crawl', { shards: { one: ['a'], two: ['b'] } }, seats({ 'crawl:one': bad, merge }))
      assert.equal(result.blocked, true, JSON.stringify(bad))
      assert.deepEqual(result.deadShards, ['one'], JSON.stringify(bad))
      assert.deepEqual(result.unread, ['a'])
    }
  }
})

test('a merge in another shape is none', async () => {
  for (const merge of [{ ...merged, findings: [null] }, { ...merged, findings: ['m'] }, { ...merged, contradictions: 'x' }, { ...merged, answer: ' ' }]) {
    const { result } = await run('crawl', ['a'], seats({ merge }))
    assert.deepEqual(result.reasons, ['no report from merge'], JSON.stringify(merge))
    assert.deepEqual(result.findings, [{ what: 'crawl:shard 1', places: ['a:1'] }])
  }
})

test('without a merge the reports are kept', async () => {
  for (const merge of [null, {}, 'text', { findings: 'none' }]) {
    const { result } = await run('crawl', ['a'], seats({ merge }))
    assert.equal(result.blocked, true)
    assert.deepEqual(result.findings, [{ what: 'crawl:shard 1', places: ['a:1'] }])
  }
})

test('too many shards are refused before a seat is spent', async () => {
  const { result, calls } = await run('crawl', { shards: Array.from({ length: 201 }, (_, at) => [`p${at}`]) }, seats())
  assert.equal(calls.length, 0)
  assert.equal(result.refused, true)
})
