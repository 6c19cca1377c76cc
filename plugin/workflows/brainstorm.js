export const meta = {
  name: 'brainstorm',
  description: 'Several directions for a goal, developed apart, with blind spots and references, then weighed once',
  whenToUse: 'When there is a goal and no spec yet. Pass args as an object: goal, context (what the project already decided), n (2 to 6, only if the user named it), tiers (the output of `git operator tiers --json`). When it ends, show the ranking, the shared constraints, the open questions and dead seats; the user decides. Then propose /cc-operator:spec.',
  phases: [
    { title: 'Diverge', detail: 'one seat for each direction, one for blind spots, one for references' },
    { title: 'Converge', detail: 'one seat that judges' },
  ],
}

// args: { goal, context?, n?, tiers? }, the same as a JSON string, or the goal alone.
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

const ANGLES = [
  { key: 'smallest', ask: 'the smallest thing that could be of use tomorrow, and how it grows from there' },
  { key: 'user', ask: 'what the person who uses it does, minute by minute; everything else follows from that' },
  { key: 'risk', ask: 'the part most likely to fail, taken first; the rest is built around what is learned' },
  { key: 'reuse', ask: 'what is already there, in this project and outside, arranged so that little is written' },
  { key: 'inverse', ask: 'the opposite of the obvious way: drop the constraint everybody takes for granted' },
  { key: 'years', ask: 'the way that is still right in five years, and what it costs to begin that way now' },
]

const DIRECTION = {
  type: 'object',
  properties: {
    idea: { type: 'string', description: 'two sentences' },
    firstPiece: { type: 'string' },
    cost: { type: 'string' },
    forecloses: { type: 'string', description: 'what becomes impossible later' },
    killedBy: { type: 'string', description: 'the one fact that would end it' },
    assumptions: { type: 'array', items: { type: 'string' } },
  },
  required: ['idea', 'firstPiece', 'cost', 'forecloses', 'killedBy', 'assumptions'],
}

const BLIND_SPOTS = {
  type: 'object',
  properties: { blindSpots: { type: 'array', items: { type: 'string' } } },
  required: ['blindSpots'],
}

const REFERENCES = {
  type: 'object',
  properties: {
    references: {
      type: 'array',
      items: {
        type: 'object',
        properties: { what: { type: 'string' }, where: { type: 'string' }, lesson: { type: 'string' } },
        required: ['what', 'where', 'lesson'],
      },
    },
  },
  required: ['references'],
}

const RANKING = {
  type: 'object',
  properties: {
    ranked: {
      type: 'array',
      items: {
        type: 'object',
        properties: { direction: { type: 'string' }, why: { type: 'string' }, takeFromOthers: { type: 'string' } },
        required: ['direction', 'why', 'takeFromOthers'],
      },
    },
    sharedConstraints: { type: 'array', items: { type: 'string' } },
    openQuestions: { type: 'array', items: { type: 'string' } },
  },
  required: ['ranked', 'sharedConstraints', 'openQuestions'],
}

function count(n) {
  const wanted = Number(n)
  return n === undefined || n === null || n === '' || !Number.isFinite(wanted) ? 4 : Math.min(6, Math.max(2, Math.trunc(wanted)))
}

const input = parsed(args)
const options = input && typeof input === 'object' && !Array.isArray(input) ? input : { goal: input }
const goal = textOf(options.goal)
if (goal === '') return refuse('no goal: pass what is wanted as args.goal')
const { tiers, problem } = readTiers(options.tiers)
if (problem) return refuse(problem)
const context = textOf(options.context)
const scene = `The goal:\n${goal}\n${context ? `\nWhat is known:\n${context}\n` : ''}`

phase('Diverge')
const angles = ANGLES.slice(0, count(options.n))
const direction = angle => seat(
  `${scene}\nDevelop one direction, and only this one: ${angle.ask}.`,
  { label: `direction:${angle.key}`, phase: 'Diverge', schema: DIRECTION, model: tiers.MECHANICAL, agentType: 'cc-operator:op-brainstorm' },
)
const [blindSpots, references, ...directions] = await parallel([
  () => seat(
    `${scene}\nName what would surprise somebody who starts on this now: facts about the project nobody mentioned, people affected, limits, questions only the user can answer. At most ten, the most expensive first.`,
    { label: 'blind spots', phase: 'Diverge', schema: BLIND_SPOTS, model: tiers.RECON, agentType: 'cc-operator:op-scout' },
  ),
  () => seat(
    `${scene}\nFind what exists already that answers part of this: in the project first, then elsewhere. For each: what, where, and the lesson to take.`,
    { label: 'references', phase: 'Diverge', schema: REFERENCES, model: tiers.RECON, agentType: 'cc-operator:op-brainstorm' },
  ),
  ...angles.map(angle => () => direction(angle)),
])

const isDirection = answer => answer && typeof answer.idea === 'string' && answer.idea.trim() !== ''
const deadSeats = [
  ...(blindSpots && Array.isArray(blindSpots.blindSpots) ? [] : ['blind spots']),
  ...(references && Array.isArray(references.references) ? [] : ['references']),
  ...angles.filter((_, at) => !isDirection(directions[at])).map(angle => `direction:${angle.key}`),
]
const alive = angles.map((angle, at) => ({ direction: angle.key, ...directions[at] })).filter(isDirection)
const done = (result, reasons) => ({ blocked: reasons.length > 0, reasons, ...result, directions: alive, deadSeats })
const nothing = { ranked: [], sharedConstraints: [], openQuestions: [] }
if (alive.length === 0) return done(nothing, ['no direction was developed'])

phase('Converge')
const ranking = await seat(
  `${scene}\nDirections, developed apart from each other:\n${JSON.stringify(alive, null, 1)}\n\nBlind spots: ${JSON.stringify(blindSpots?.blindSpots ?? 'nobody looked')}\nReferences: ${JSON.stringify(references?.references ?? 'nobody looked')}\n\nRank them for this goal, name for each what it should take from the others, the constraints all share, and the questions whose answer would change the order. Use the names of the directions as given.`,
  { label: 'converge', phase: 'Converge', schema: RANKING, model: tiers.JUDGMENT },
)
const reasons = deadSeats.map(name => `no report from ${name}`)
if (!ranking || !Array.isArray(ranking.ranked)) return done(nothing, [...reasons, 'no report from converge'])
const known = new Set(alive.map(one => one.direction))
const ranked = ranking.ranked.filter(one => one && known.has(one.direction))
if (ranked.length === 0) return done(nothing, [...reasons, 'converge ranked no direction that was developed'])
return done({
  ranked,
  sharedConstraints: Array.isArray(ranking.sharedConstraints) ? ranking.sharedConstraints : [],
  openQuestions: Array.isArray(ranking.openQuestions) ? ranking.openQuestions : [],
}, reasons)
