import assert from 'node:assert/strict'
import { test } from 'node:test'
import { meta, run, source } from './harness.mjs'

const NAMES = ['review', 'brainstorm', 'plan', 'crawl']
const SPEC = '# x\nStatus: APPROVED @0123456789ab\n\n## North star\nGood.\nMissed if: bad\n'
const GOOD = { review: 'a change', brainstorm: 'a goal', plan: SPEC, crawl: ['a.md'] }

test('a workflow begins with its meta and says the phases it enters', async () => {
  for (const name of NAMES) {
    assert.ok(source(name).startsWith('export const meta = {\n'), name)
    const { name: own, description, phases } = meta(name)
    assert.equal(own, name)
    assert.ok(description.length > 20 && !description.includes('\n'), name)
    const { phases: entered } = await run(name, GOOD[name], () => null)
    const titles = phases.map(phase => phase.title)
    assert.deepEqual(entered, titles.slice(0, entered.length), name)
    for (const title of titles) assert.ok(source(name).includes(`phase('${title}')`), `${name}: ${title}`)
  }
})

test('the way to call it is said where the client shows it', () => {
  for (const name of NAMES) {
    assert.match(meta(name).whenToUse, /Pass args as an object: .*tiers/, name)
    assert.match(meta(name).whenToUse, /When it ends, /, name)
  }
})

test('the part that every workflow shares is the same in each', () => {
  const shared = name => {
    const text = source(name)
    return text.slice(text.indexOf('const DEFAULT_TIERS'), text.indexOf('// A seat that throws'))
  }
  for (const name of NAMES) {
    assert.equal(shared(name), shared('review'), name)
    assert.ok(shared(name).length > 500)
  }
})

test('nothing a workflow may not use is used', () => {
  for (const name of NAMES) {
    const text = source(name)
    for (const word of ['require(', 'import ', 'process.', 'Date.now', 'Math.random', 'new Date(', 'fs.', 'ops-']) {
      assert.ok(!text.includes(word), `${name}: ${word}`)
    }
  }
})

test('empty input is refused before a seat is spent', async () => {
  for (const name of NAMES) {
    for (const args of [undefined, null, '', '  \n', '{}', '[]', [], {}, '""', { tiers: {} }, '{"tiers":{}}', 'null', true, NaN]) {
      const { result, calls } = await run(name, args, () => assert.fail('a seat was spent'))
      assert.equal(calls.length, 0)
      assert.equal(result.refused, true, `${name} ${JSON.stringify(args)}`)
      assert.equal(result.blocked, true)
      assert.equal(result.reasons.length, 1)
    }
  }
})

test('arguments as a JSON string are the same as the object', async () => {
  const objects = {
    review: { target: 'a change', doneMeans: 'it works' },
    brainstorm: { goal: 'a goal', n: 3 },
    plan: { spec: SPEC },
    crawl: { question: 'why', shards: [['a.md'], ['b.md']] },
  }
  for (const name of NAMES) {
    const prompts = async args => (await run(name, args, () => null)).calls.map(call => call.prompt)
    const wanted = await prompts(objects[name])
    assert.ok(wanted.length > 0, name)
    assert.deepEqual(await prompts(JSON.stringify(objects[name])), wanted, name)
    assert.deepEqual(await prompts(JSON.stringify(JSON.stringify(objects[name]))), wanted, name)
    assert.deepEqual(await prompts(`  ${JSON.stringify(objects[name], null, 2)}\n`), wanted, name)
  }
})

test('tiers reach the seats, as an object or a string, and a strange id is refused', async () => {
  const tiers = { v: 1, type: 'tiers', JUDGMENT: 'glm-5[1m]', MECHANICAL: 'x/y:free', RECON: 'r@1' }
  const key = { review: 'target', brainstorm: 'goal', plan: 'spec', crawl: 'shards' }
  for (const name of NAMES) {
    const args = layer => ({ [key[name]]: GOOD[name], tiers: layer })
    const models = async layer => new Set((await run(name, args(layer), () => null)).calls.map(call => call.model))
    const found = await models(tiers)
    for (const model of found) assert.ok(['glm-5[1m]', 'x/y:free', 'r@1'].includes(model), `${name} ${model}`)
    assert.deepEqual(await models(JSON.stringify(tiers)), found, name)
    const builtIn = await models(undefined)
    for (const model of builtIn) assert.ok(['opus', 'haiku'].includes(model), `${name} ${model}`)
    for (const strange of [{ JUDGMENT: '$(id)' }, { RECON: '' }, { MECHANICAL: 7 }, { IMPLEMENT: '-x' }, [1], 'opus', '{']) {
      const { result, calls } = await run(name, args(strange), () => null)
      assert.equal(calls.length, 0, `${name} ${JSON.stringify(strange)}`)
      assert.equal(result.refused, true)
    }
  }
})

test('when every seat dies the result is blocked and says which', async () => {
  for (const name of NAMES) {
    for (const death of [() => null, () => { throw new Error('dead') }, () => undefined, () => 'prose', () => ({})]) {
      const { result } = await run(name, GOOD[name], death)
      assert.equal(result.blocked, true, name)
      assert.ok(result.reasons.length > 0, name)
    }
  }
})
