import assert from 'node:assert/strict'
import { test } from 'node:test'
import { run } from './harness.mjs'

const ok = { verdict: 'CONFIRMED', evidence: 'ran it', head: '0123456' }
const finding = (title, score) => ({ title, place: 'a.rs:1', failingCase: 'x', score })
const lens = (...findings) => ({ looked: ['a.rs'], findings })

function seats(lenses, verify = () => ok) {
  return call => call.label.startsWith('lens:') ? (lenses[call.label.slice(5)] ?? lens()) : verify(call)
}

test('a change without findings is still attacked once', async () => {
  const { result, calls } = await run('review', 'a change', seats({}))
  assert.equal(calls.length, 6)
  assert.deepEqual(result, {
    blocked: false, reasons: [], unverified: [], isolation: 'none', findings: [], dropped: [], deadLenses: [],
    adversarial: [{ about: 'the claim', verdict: 'CONFIRMED', evidence: 'ran it' }],
  })
})

test('three lenses are cheap, two judge, and the verifier judges', async () => {
  const { calls } = await run('review', 'a change', seats({}))
  const models = Object.fromEntries(calls.map(call => [call.label, call.model]))
  assert.deepEqual(models, {
    'lens:spec': 'haiku', 'lens:testability': 'haiku', 'lens:feasibility': 'haiku',
    'lens:correctness': 'opus', 'lens:quality': 'opus', 'verify:the claim': 'opus',
  })
})

test('findings fall into their buckets by score', async () => {
  const scores = [49, 50, 59, 60, 74, 75, 100]
  const { result } = await run('review', 'a change', seats({ spec: lens(...scores.map(score => finding(`f${score}`, score))) }))
  assert.deepEqual(result.findings.map(one => [one.score, one.bucket, one.lens]), [
    [100, 'must-resolve', 'spec'], [75, 'must-resolve', 'spec'], [74, 'should-clarify', 'spec'],
    [60, 'should-clarify', 'spec'], [59, 'noted', 'spec'], [50, 'noted', 'spec'],
  ])
  assert.deepEqual(result.dropped.map(one => one.score), [49])
  assert.deepEqual(result.adversarial.map(one => one.about), ['the claim', 'f100', 'f75'])
  assert.equal(result.blocked, false)
})

test('one REFUTED stops it, whatever the others say', async () => {
  const three = lens(finding('a', 90), finding('b', 90), finding('c', 90))
  const verify = call => call.label === 'verify:b' ? { ...ok, verdict: 'REFUTED', evidence: 'it failed' } : ok
  const { result } = await run('review', 'a change', seats({ spec: three }, verify))
  assert.equal(result.blocked, true)
  assert.deepEqual(result.reasons, ['refuted: b'])
  const claim = call => call.label === 'verify:the claim' ? { ...ok, verdict: 'REFUTED' } : ok
  assert.deepEqual((await run('review', 'x', seats({}, claim))).result.reasons, ['refuted: the claim'])
})

test('a verdict that is missing, malformed or undecided blocks', async () => {
  for (const verdict of [
    null, 'CONFIRMED', {}, { verdict: 'confirmed', evidence: 'x' }, { verdict: 'CONFIRMED' },
    { verdict: 'CONFIRMED', evidence: ' ' }, { verdict: 'OK', evidence: 'x' }, { verdict: 'UNDECIDED', evidence: 'x' }, [ok],
  ]) {
    const { result } = await run('review', 'a change', seats({}, () => verdict))
    assert.equal(result.blocked, true, JSON.stringify(verdict))
    assert.deepEqual(result.unverified, ['the claim'])
  }
})

test('a lens that died or answers in another shape blocks and is named', async () => {
  for (const report of [null, 'no findings', {}, { findings: 'none' }, lens({ title: '', score: 80 }), lens({ title: 'x', score: '80' })]) {
    const answer = call => call.label === 'lens:correctness' ? report : seats({})(call)
    const { result } = await run('review', 'a change', answer)
    assert.deepEqual(result.deadLenses, ['correctness'], JSON.stringify(report))
    assert.deepEqual(result.reasons, ['no report from the lens correctness'])
  }
})

test('the target may be a list or an object, and what done means reaches every seat', async () => {
  for (const [target, words] of [
    [['src/a.rs', 'src/b.rs'], ['src/a.rs', 'src/b.rs']],
    [{ range: 'main..x', files: ['c.rs'] }, ['main..x', 'c.rs']],
  ]) {
    const { calls } = await run('review', { target, doneMeans: 'zero red tests' }, seats({}))
    for (const call of calls) for (const word of [...words, 'zero red tests']) assert.ok(call.prompt.includes(word), word)
  }
  const { calls } = await run('review', ['src/a.rs'], seats({}))
  assert.ok(calls[0].prompt.includes('src/a.rs'))
})

test('a verifier in a worktree on another commit has verified nothing', async () => {
  const args = { target: 'x', isolation: 'worktree', head: '0123456789abcdef' }
  const on = head => run('review', args, seats({}, () => ({ ...ok, head })))
  const right = await on('0123456789abcdef0000')
  assert.equal(right.result.blocked, false)
  assert.equal(right.result.isolation, 'worktree')
  assert.deepEqual(right.calls.map(call => call.isolation), [undefined, undefined, undefined, undefined, undefined, 'worktree'])
  for (const head of ['fedcba9', '', undefined]) {
    const { result } = await on(head)
    assert.deepEqual(result.unverified, ['the claim'], head)
  }
  const { result, calls } = await run('review', { target: 'x', isolation: 'worktree' }, () => null)
  assert.equal(calls.length, 0)
  assert.equal(result.refused, true)
})

test('a lens that does not say what it looked at is dead', async () => {
  for (const bad of [{ findings: [] }, { looked: [], findings: [] }, { looked: 'a.rs', findings: [] }, { looked: [' ', null], findings: [] }]) {
    const { result } = await run('review', 'x', seats({ spec: bad }))
    assert.equal(result.blocked, true, JSON.stringify(bad))
    assert.deepEqual(result.deadLenses, ['spec'])
  }
})
