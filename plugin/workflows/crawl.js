export const meta = {
  name: 'crawl',
  description: 'Reads a large body of material in shards, one cheap seat each, and merges what they found once',
  whenToUse: 'To digest more material than one context should read. List the paths, cut them into shards of about eight related files, say what was left out. Pass args as an object: question, shards (a list of lists of paths), tiers (the output of `git operator tiers --json`). When it ends, give the answer with its places, the contradictions and what was not read; a dead shard is a hole in the answer.',
  phases: [
    { title: 'Crawl', detail: 'one seat for each shard' },
    { title: 'Merge', detail: 'one seat that judges' },
  ],
}

// args: { question, shards: [[path, …], …] or { name: [path, …] } or [path, …], shardSize?, tiers? },
// the same as a JSON string, or a list of paths alone.
const DEFAULT_TIERS = { JUDGMENT: 'opus', IMPLEMENT: 'sonnet', MECHANICAL: 'haiku', RECON: 'haiku' }

function refuse(reason) {
  log(`refused: ${reason}`)
  return { refused: true, blocked: true, reasons: [reason] }
}

function parsed(value) {
  if (typeof value !== 'string') return value
  const text = value.trim()
  if (text === 'null' || text === 'undefined') return ''
  if (!/^[[{"]/.test(text)) return text
  let inner
  try { inner = JSON.parse(text) } catch { return text }
  return parsed(inner)
}

function textOf(value) {
  if (typeof value === 'string') return value.trim()
  if (Array.isArray(value)) return value.map(textOf).filter(Boolean).join('\n')
  if (value && typeof value === 'object') return Object.keys(value).length ? JSON.stringify(value, null, 1) : ''
  return Number.isFinite(value) ? String(value) : ''
}

function readTiers(given) {
  const layer = parsed(given)
  if (layer === undefined || layer === null || layer === '') return { tiers: DEFAULT_TIERS }
  if (typeof layer !== 'object' || Array.isArray(layer)) return { problem: 'args.tiers is not an object' }
  const tiers = { ...DEFAULT_TIERS }
  for (const name of Object.keys(DEFAULT_TIERS)) {
    if (layer[name] === undefined) continue
    if (typeof layer[name] !== 'string' || !/^[A-Za-z0-9][A-Za-z0-9._:/@[\]-]{0,199}$/.test(layer[name])) {
      return { problem: `args.tiers.${name} is not a model id` }
    }
    tiers[name] = layer[name]
  }
  return { tiers }
}

// A seat that throws, is skipped or dies is null, never an empty result.
async function seat(prompt, options) {
  try { return (await agent(prompt, options)) ?? null } catch { return null }
}

const MOST_SHARDS = 200

const REPORT = {
  type: 'object',
  properties: {
    findings: {
      type: 'array',
      items: {
        type: 'object',
        properties: { what: { type: 'string' }, place: { type: 'string' }, quote: { type: 'string' } },
        required: ['what', 'place', 'quote'],
      },
    },
    read: { type: 'array', items: { type: 'string' }, description: 'paths read to the end' },
    unread: { type: 'array', items: { type: 'string' }, description: 'paths of the shard that were not, with the reason' },
  },
  required: ['findings', 'read', 'unread'],
}

const MERGED = {
  type: 'object',
  properties: {
    answer: { type: 'string' },
    findings: {
      type: 'array',
      items: {
        type: 'object',
        properties: { what: { type: 'string' }, places: { type: 'array', items: { type: 'string' } } },
        required: ['what', 'places'],
      },
    },
    contradictions: { type: 'array', items: { type: 'string' } },
  },
  required: ['answer', 'findings', 'contradictions'],
}

function paths(value) {
  const list = Array.isArray(value) ? value : [value]
  return list.filter(path => typeof path === 'string' && path.trim() !== '').map(path => path.trim())
}

function readShards(given, size) {
  const shards = parsed(given)
  const named = (name, list) => ({ name, paths: paths(list) })
  let found = []
  if (Array.isArray(shards) && shards.some(Array.isArray)) {
    found = shards.map((list, at) => named(`shard ${at + 1}`, list))
  } else if (Array.isArray(shards)) {
    const all = paths(shards)
    for (let at = 0; at < all.length; at += size) found.push(named(`shard ${found.length + 1}`, all.slice(at, at + size)))
  } else if (shards && typeof shards === 'object') {
    found = Object.entries(shards).map(([name, list]) => named(name, list))
  } else if (typeof shards === 'string') {
    found = [named('shard 1', shards.split('\n'))]
  }
  return found.filter(shard => shard.paths.length > 0)
}

const isTexts = value => Array.isArray(value) && value.every(text => typeof text === 'string')
const isNamed = finding => finding && typeof finding.what === 'string' && finding.what.trim() !== ''

function isReport(report) {
  return report && Array.isArray(report.findings) && report.findings.every(isNamed) && isTexts(report.read) && isTexts(report.unread)
}

function isMerge(merged) {
  return merged && textOf(merged.answer) !== '' && isTexts(merged.contradictions) && Array.isArray(merged.findings)
    && merged.findings.every(finding => isNamed(finding) && isTexts(finding.places))
}

const bare = path => path.trim().replace(/^[`'"]+|[`'"]+$/g, '').replace(/^\.\//, '').replace(/\/$/, '')

// A seat may name a path from the root, and the files of a directory it was given.
function isRead(path, read) {
  return read.map(bare).some(one => one === path || one.endsWith(`/${path}`) || one.startsWith(`${path}/`))
}

function isUnread(path, unread) {
  return unread.map(bare).some(one => one.startsWith(path) && !/^[\w./-]/.test(one.slice(path.length)))
}

// What the seat says it did not read, and what it does not speak of.
function unreadOf(shard, report) {
  const silent = shard.paths.filter(path => !isRead(bare(path), report.read) && !isUnread(bare(path), report.unread))
  return [...paths(report.unread), ...silent]
}

const input = parsed(args)
const options = input && typeof input === 'object' && !Array.isArray(input) ? input : { shards: input }
const question = textOf(options.question) || 'What is here, what is it for, and what would surprise somebody who works on it?'
const wanted = Math.trunc(Number(options.shardSize))
const shards = readShards(options.shards, wanted >= 1 ? wanted : 8)
if (shards.length === 0) return refuse('no shards: pass the paths to read as args.shards')
if (shards.length > MOST_SHARDS) return refuse(`${shards.length} shards are more than ${MOST_SHARDS}: raise args.shardSize`)
const { tiers, problem } = readTiers(options.tiers)
if (problem) return refuse(problem)

phase('Crawl')
const reports = await parallel(shards.map(shard => () => seat(
  `The question:\n${question}\n\nYour shard is these paths, and nothing else. Read every one to its end:\n${shard.paths.join('\n')}`,
  { label: `crawl:${shard.name}`.slice(0, 60), phase: 'Crawl', schema: REPORT, model: tiers.MECHANICAL, agentType: 'cc-operator:op-crawler' },
)))
const deadShards = []
const unread = []
const alive = []
shards.forEach((shard, at) => {
  const report = reports[at]
  // A report in another shape says as little as none.
  if (!isReport(report)) {
    deadShards.push(shard.name)
    unread.push(...shard.paths)
    return
  }
  alive.push({ shard: shard.name, findings: report.findings })
  unread.push(...unreadOf(shard, report))
})
const reasons = deadShards.map(name => `no report from ${name}`)
reasons.push(...(unread.length > 0 && deadShards.length === 0 ? [`${unread.length} paths were not read`] : []))
const done = (result, more) => ({ blocked: reasons.length + more.length > 0, reasons: [...reasons, ...more], ...result, deadShards, unread })
const nothing = { answer: '', findings: [], contradictions: [] }
if (alive.length === 0) return done(nothing, ['no shard was read'])

phase('Merge')
const merged = await seat(
  `The question:\n${question}\n\nWhat each shard reported:\n${JSON.stringify(alive, null, 1)}\n\nNot read: ${JSON.stringify(unread)}\n\nAnswer the question from these reports alone. Keep the places. Name contradictions between shards, and do not conclude anything from what was not read.`,
  { label: 'merge', phase: 'Merge', schema: MERGED, model: tiers.JUDGMENT },
)
if (!isMerge(merged)) {
  // The reports are worth keeping even where nobody merged them.
  return done({ ...nothing, findings: alive.flatMap(one => one.findings.map(finding => ({ what: finding.what, places: paths(finding.place) }))) }, ['no report from merge'])
}
return done({
  answer: textOf(merged.answer),
  findings: merged.findings,
  contradictions: merged.contradictions,
}, [])
