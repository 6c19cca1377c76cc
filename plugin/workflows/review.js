export const meta = {
  name: 'review',
  description: 'Five narrow lenses on a finished change, then verifiers that try to refute it; a REFUTED stops it',
  whenToUse: 'After a DONE on work that will be merged or depended on. Pass args as an object: target (range, paths, one sentence of what changed), doneMeans (the criterion verbatim), tiers (the output of `git operator tiers --json`). When it ends, report blocked and every reason first, then the findings by bucket. A dead lens or an unverified claim is not a clean result; a REFUTED is recorded as a FAIL and repaired, not argued away.',
  phases: [
    { title: 'Lenses', detail: 'three cheap lenses, two that judge' },
    { title: 'Verify', detail: 'one attempt to refute the claim, one for each finding that must be resolved' },
  ],
}

// args: { target, doneMeans?, isolation?: 'worktree', head?, tiers? }, the same as a JSON string, or
// the target alone as a string or a list.
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

const LENSES = [
  { key: 'spec', tier: 'MECHANICAL', ask: 'Compare the change with what done means, sentence by sentence. What is asked for and missing, or there and not asked for?' },
  { key: 'testability', tier: 'MECHANICAL', ask: 'For each behavior that changed: which check would fail if it were wrong? Name behavior that no check covers and checks that cannot fail.' },
  { key: 'feasibility', tier: 'MECHANICAL', ask: 'What does the change rest on that may not hold where it runs: versions, limits, permissions, data that is already there?' },
  { key: 'correctness', tier: 'JUDGMENT', ask: 'Follow the code paths of the change with hostile, empty, large and concurrent input. Where does it do the wrong thing?' },
  { key: 'quality', tier: 'JUDGMENT', ask: 'What will the next person who edits this get wrong because of how it is written: names, duplication, hidden coupling?' },
]

const FINDINGS = {
  type: 'object',
  properties: {
    looked: { type: 'array', items: { type: 'string' }, description: 'what was looked at, to the end' },
    findings: {
      type: 'array',
      items: {
        type: 'object',
        properties: {
          title: { type: 'string' },
          place: { type: 'string', description: 'path:line' },
          failingCase: { type: 'string', description: 'the input or state under which it is wrong; empty if none is known' },
          score: { type: 'integer', minimum: 0, maximum: 100, description: 'confidence; at most 50 without a failing case' },
        },
        required: ['title', 'place', 'failingCase', 'score'],
      },
    },
  },
  required: ['looked', 'findings'],
}

const VERDICT = {
  type: 'object',
  properties: {
    verdict: { type: 'string', enum: ['CONFIRMED', 'REFUTED', 'UNDECIDED'] },
    evidence: { type: 'string', description: 'the output or the lines that show it' },
    head: { type: 'string', description: 'what `git rev-parse HEAD` printed where you worked' },
  },
  required: ['verdict', 'evidence', 'head'],
}

function isFinding(finding) {
  return finding && typeof finding.title === 'string' && finding.title.trim() !== '' && Number.isFinite(finding.score)
}

function bucket(score) {
  if (score >= 75) return 'must-resolve'
  if (score >= 60) return 'should-clarify'
  return score >= 50 ? 'noted' : 'dropped'
}

const input = parsed(args)
const options = input && typeof input === 'object' && !Array.isArray(input) ? input : { target: input }
const target = textOf(options.target)
if (target === '') return refuse('no target: pass what to review as args.target')
const { tiers, problem } = readTiers(options.tiers)
if (problem) return refuse(problem)
const isolation = options.isolation === 'worktree' ? 'worktree' : 'none'
const head = textOf(options.head).toLowerCase()
if (isolation === 'worktree' && !/^[0-9a-f]{7,64}$/.test(head)) {
  return refuse('isolation needs args.head, the commit under review: a worktree may stand on another one')
}
const doneMeans = textOf(options.doneMeans) || 'what the change itself says it does'
const scene = `The change under review:\n${target}\n\nDone means:\n${doneMeans}\n`

phase('Lenses')
const reports = await parallel(LENSES.map(lens => () => seat(
  `${scene}\nYour lens is ${lens.key}, and nothing else. ${lens.ask}\nReport what you looked at and each finding with its failing case.`,
  { label: `lens:${lens.key}`, phase: 'Lenses', schema: FINDINGS, model: tiers[lens.tier], agentType: 'cc-operator:op-reviewer' },
)))

const findings = []
const dropped = []
const deadLenses = []
LENSES.forEach((lens, at) => {
  const report = reports[at]
  const list = report && Array.isArray(report.findings) ? report.findings : null
  const looked = report && Array.isArray(report.looked) && report.looked.some(place => textOf(place) !== '')
  // A report in another shape says as little as none, and so does one that looked at nothing.
  if (!list || !looked || !list.every(isFinding)) {
    deadLenses.push(lens.key)
    return
  }
  for (const finding of list) {
    const placed = { ...finding, lens: lens.key, bucket: bucket(finding.score) }
    ;(placed.bucket === 'dropped' ? dropped : findings).push(placed)
  }
})
findings.sort((a, b) => b.score - a.score)

phase('Verify')
const attacks = [
  { about: 'the claim', text: 'Nothing in particular is held against it: look for the strongest case yourself.' },
  ...findings.filter(finding => finding.bucket === 'must-resolve').map(finding => ({
    about: finding.title,
    text: `Held against it: ${finding.title} (${finding.place}). Failing case: ${finding.failingCase || 'none given'}.`,
  })),
]
log(`${findings.length} findings, ${dropped.length} dropped, ${attacks.length} attempts to refute`)
const verdicts = await parallel(attacks.map(attack => () => seat(
  `${scene}\nThe claim is that this change is done as stated. ${attack.text}\nTry to refute the claim by experiment. REFUTED: you saw it fail. CONFIRMED: you saw it hold against this. UNDECIDED: neither could be shown.`,
  {
    label: `verify:${attack.about}`.slice(0, 60), phase: 'Verify', schema: VERDICT, model: tiers.JUDGMENT,
    agentType: 'cc-operator:op-verifier', ...(isolation === 'worktree' ? { isolation } : {}),
  },
)))

const adversarial = attacks.map((attack, at) => {
  const answer = verdicts[at]
  const known = answer && ['CONFIRMED', 'REFUTED', 'UNDECIDED'].includes(answer.verdict)
  const shown = known && typeof answer.evidence === 'string' && answer.evidence.trim() !== ''
  if (!shown) return { about: attack.about, verdict: 'NONE', evidence: answer ? 'the verdict is malformed' : 'the seat died' }
  const seen = String(answer.head ?? '').toLowerCase()
  const elsewhere = isolation === 'worktree' && (seen === '' || !(seen.startsWith(head) || head.startsWith(seen)))
  if (elsewhere) return { about: attack.about, verdict: 'NONE', evidence: `it was tried on ${seen || 'an unknown commit'}, not on ${head}` }
  return { about: attack.about, verdict: answer.verdict, evidence: answer.evidence }
})
const unverified = adversarial.filter(verdict => !['CONFIRMED', 'REFUTED'].includes(verdict.verdict)).map(verdict => verdict.about)
const refuted = adversarial.filter(verdict => verdict.verdict === 'REFUTED').map(verdict => verdict.about)
const reasons = [
  ...refuted.map(about => `refuted: ${about}`),
  ...unverified.map(about => `not verified: ${about}`),
  ...deadLenses.map(lens => `no report from the lens ${lens}`),
]
return { blocked: reasons.length > 0, reasons, unverified, adversarial, isolation, findings, dropped, deadLenses }
