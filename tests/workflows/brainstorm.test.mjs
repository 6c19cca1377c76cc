import assert from 'node:assert/strict'
import { test } from 'node:test'
import { run } from './harness.mjs'

const idea = key => ({ idea: `do ${key}`, firstPiece: 'a', cost: 'b', forecloses: 'c', killedBy: 'd', assumptions: [] })

function seats(change = {}) {
  return call => {
    if (call.label in change) return change[call.label]
    if (call.label.startsWith('direction:')) return idea(call.label.slice(10))
    if (call.label === 'blind spots') return { blindSpots: ['nobody asked the users'] }
    if (call.label === 'references') return { references: [{ what: 'a', where: 'b', lesson: 'c' }] }
    return { ranked: [{ direction: 'user', why: 'w', takeFromOthers: 't' }], sharedConstraints: ['time'], openQuestions: ['who'] }
  }
}

const directions = calls => calls.filter(call => call.label.startsWith('direction:')).length

test('n directions are developed apart and weighed once', async () => {
  const { result, calls } = await run('brainstorm', 'a goal', seats())
  assert.equal(directions(calls), 4)
  assert.equal(calls.length, 7)
  assert.equal(result.blocked, false)
  assert.deepEqual(result.ranked, [{ direction: 'user', why: 'w', takeFromOthers: 't' }])
  assert.deepEqual(result.sharedConstraints, ['time'])
  assert.deepEqual(result.openQuestions, ['who'])
  assert.deepEqual(result.directions.map(one => one.direction), ['smallest', 'user', 'risk', 'reuse'])
  assert.deepEqual([calls[0].model, calls.at(-1).model], ['haiku', 'opus'])
})

test('the number of directions is kept between two and six', async () => {
  for (const [n, wanted] of [[1, 2], [2, 2], [6, 6], [99, 6], [-3, 2], ['5', 5], ['many', 4], [null, 4], [3.9, 3]]) {
    const { calls } = await run('brainstorm', { goal: 'g', n }, seats())
    assert.equal(directions(calls), wanted, `${n}`)
  }
})

test('a dead seat is reported and blocks, and the rest is kept', async () => {
  for (const name of ['direction:risk', 'blind spots', 'references']) {
    const { result } = await run('brainstorm', 'a goal', seats({ [name]: null }))
    assert.equal(result.blocked, true)
    assert.deepEqual(result.deadSeats, [name])
    assert.deepEqual(result.reasons, [`no report from ${name}`])
    assert.equal(result.ranked.length, 1)
  }
})

test('without a direction the judge is not asked', async () => {
  const dead = Object.fromEntries(['smallest', 'user', 'risk', 'reuse'].map(key => [`direction:${key}`, null]))
  const { result, calls } = await run('brainstorm', 'a goal', seats(dead))
  assert.equal(calls.length, 6)
  assert.deepEqual(result.reasons, ['no direction was developed'])
})

test('a ranking that is missing or names directions nobody developed blocks', async () => {
  for (const converge of [null, {}, { ranked: 'user' }, { ranked: [] }, { ranked: [{ direction: 'mine' }] }]) {
    const { result } = await run('brainstorm', 'a goal', seats({ converge }))
    assert.equal(result.blocked, true, JSON.stringify(converge))
    assert.deepEqual(result.ranked, [])
    assert.equal(result.directions.length, 4)
  }
})
