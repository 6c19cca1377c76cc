import assert from 'node:assert/strict'
import { test } from 'node:test'
import { run } from './harness.mjs'

const SPEC = '# x\nStatus: APPROVED @0123456789ab+dirty\n\n## North star\nGood.\nMissed if: bad\n'
const task = (id, dependsOn = [], more = {}) => ({ id, title: 't', criterion: 'c', test: 'red first', change: 'x', paths: ['a'], dependsOn, ...more })
const plan = (...tasks) => ({ tasks, uncovered: [], questions: [] })

function seats(decomposed, vet = () => ({ answer: 'OK', why: 'looked' })) {
  return call => call.label === 'decompose' ? decomposed : vet(call)
}

test('an approved spec becomes vetted tasks in the order of their dependencies', async () => {
  const { result, calls } = await run('plan', SPEC, seats(plan(task('b', ['a']), task('a'), task('c', ['b']))))
  assert.equal(result.blocked, false)
  assert.deepEqual(result.tasks.map(one => one.id), ['a', 'b', 'c'])
  assert.equal(result.tasks[0].test, 'red first')
  assert.equal(result.vetting.length, 6)
  assert.deepEqual(result.vetting[0], { task: 'a', question: 'feasibility', answer: 'OK', why: 'looked' })
  assert.deepEqual(calls.map(call => call.model), ['opus', ...Array(6).fill('haiku')])
})

test('a spec that is a draft or has no north star to miss is refused before a seat is spent', async () => {
  for (const spec of [
    'just prose', SPEC.replace('APPROVED @0123456789ab+dirty', 'DRAFT'), SPEC.replace('Missed if: bad', ''),
    SPEC.replace('Missed if: bad', 'Missed if:  '), SPEC.replace('Status: APPROVED @', 'Status: APPROVED by me '),
  ]) {
    const { result, calls } = await run('plan', { spec }, () => assert.fail('a seat was spent'))
    assert.equal(calls.length, 0)
    assert.equal(result.refused, true, spec)
  }
})

test('a plan whose graph does not hold is not vetted', async () => {
  for (const [decomposed, reason] of [
    [plan(), 'the spec gave no task'],
    [plan(task('a'), task('a')), 'a stands twice'],
    [plan(task('a', ['z'])), 'a depends on z, which is no task'],
    [plan(task('a', ['b']), task('b', ['a'])), 'the tasks depend on each other in a circle'],
    [plan(task('a', ['a'])), 'the tasks depend on each other in a circle'],
    [plan(task('../x')), '"../x" cannot be a task id'],
    [plan(task('.x')), '".x" cannot be a task id'],
    [plan(task('a|b')), '"a|b" cannot be a task id'],
    [plan(task('a\nb')), '"a\\nb" cannot be a task id'],
    [plan(task('')), '"" cannot be a task id'],
    [plan(task('a', [], { test: ' ' })), 'a has no test'],
    [plan(task('a', 'b')), 'a has no dependsOn'],
    [plan(...Array.from({ length: 41 }, (_, at) => task(`t${at}`))), '41 tasks are more than 40: the spec wants cutting first'],
  ]) {
    const { result, calls } = await run('plan', SPEC, seats(decomposed))
    assert.equal(calls.length, 1, reason)
    assert.equal(result.blocked, true)
    assert.deepEqual(result.reasons, [reason])
  }
})

test('names that a task may have pass', async () => {
  const { result } = await run('plan', SPEC, seats(plan(task('a b'), task('a__b'), task('é'), task('-x'))))
  assert.equal(result.blocked, false)
})

test('rework, missing answers and uncovered criteria block', async () => {
  const vet = call => call.label === 'testability:a' ? { answer: 'REWORK', why: 'cannot fail' }
    : call.label === 'feasibility:b' ? { answer: 'NEEDS_INFO', why: 'which database' } : { answer: 'OK', why: '' }
  const decomposed = { ...plan(task('a'), task('b')), uncovered: ['it is fast'], questions: ['for whom'] }
  const { result } = await run('plan', SPEC, seats(decomposed, vet))
  assert.deepEqual(result.needsInfo, ['for whom', 'b: which database'])
  assert.deepEqual(result.reasons, [
    'no task serves: it is fast', 'a needs rework (testability): cannot fail',
    'needs an answer: for whom', 'needs an answer: b: which database',
  ])
  assert.deepEqual(result.vettingIncomplete, [])
})

test('a vetting seat that died or mumbles is named and blocks', async () => {
  for (const answer of [null, 'OK', {}, { answer: 'ok' }, { answer: 'FINE', why: 'x' }]) {
    const { result } = await run('plan', SPEC, seats(plan(task('a')), call => call.label === 'feasibility:a' ? answer : { answer: 'OK', why: '' }))
    assert.deepEqual(result.vettingIncomplete, ['feasibility:a'], JSON.stringify(answer))
    assert.equal(result.blocked, true)
  }
})

test('a plan in another shape is no plan', async () => {
  for (const decomposed of [null, 'tasks', {}, { tasks: 'a' }, { tasks: [null] }, { tasks: ['a'] }]) {
    const { result, calls } = await run('plan', SPEC, seats(decomposed))
    assert.deepEqual(result.reasons, ['no report from decompose'], JSON.stringify(decomposed))
    assert.equal(calls.length, 1)
  }
})

test('a plan that does not list what is uncovered and what is open is no report', async () => {
  const good = plan(task('a'))
  for (const bad of [
    { tasks: good.tasks }, { ...good, uncovered: 'criterion two' }, { ...good, questions: 'which db?' },
    { ...good, uncovered: undefined }, { ...good, questions: null },
  ]) {
    const { result, calls } = await run('plan', SPEC, seats(bad))
    assert.equal(calls.length, 1, JSON.stringify(bad))
    assert.equal(result.blocked, true)
    assert.deepEqual(result.reasons, ['no report from decompose'])
  }
})

test('what is uncovered or open blocks in whatever form it is said', async () => {
  const { result } = await run('plan', SPEC, seats({ ...plan(task('a')), uncovered: [{ c: 'two' }], questions: [{ q: 1 }] }))
  assert.deepEqual(result.reasons, ['no task serves: {\n "c": "two"\n}', 'needs an answer: {\n "q": 1\n}'])
})
