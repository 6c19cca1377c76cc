export const meta = {
  name: 'plan',
  description: 'Cuts an approved spec into test-first tasks and has each vetted for feasibility and testability',
  whenToUse: 'After a spec was approved. First run `git operator spec check <slug>`: there is no plan from a draft. Pass args as an object: spec (the whole text of .operator/specs/<slug>.md), context, tiers (the output of `git operator tiers --json`). When it ends, report blocked and every reason first, then the tasks in order with their tests; ask the questions in one list. Open only the first task, when the user agrees.',
  phases: [
    { title: 'Decompose', detail: 'one seat that judges' },
    { title: 'Vet', detail: 'two cheap seats for each task' },
  ],
}

// args: { spec, context?, tiers? }, the same as a JSON string, or the text of the spec alone.
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

const MOST_TASKS = 40

const TASKS = {
  type: 'object',
  properties: {
    tasks: {
      type: 'array',
      items: {
        type: 'object',
        properties: {
          id: { type: 'string', description: 'short, usable as a file name' },
          title: { type: 'string' },
          criterion: { type: 'string', description: 'the done criterion of the spec that it serves, verbatim' },
          test: { type: 'string', description: 'the test that is written first, and why it fails before the change' },
          change: { type: 'string' },
          paths: { type: 'array', items: { type: 'string' } },
          dependsOn: { type: 'array', items: { type: 'string' }, description: 'ids of tasks that come before' },
        },
        required: ['id', 'title', 'criterion', 'test', 'change', 'paths', 'dependsOn'],
      },
    },
    uncovered: { type: 'array', items: { type: 'string' }, description: 'done criteria that no task serves' },
    questions: { type: 'array', items: { type: 'string' }, description: 'what only the user can answer' },
  },
  required: ['tasks', 'uncovered', 'questions'],
}

const VETTING = {
  type: 'object',
  properties: {
    answer: { type: 'string', enum: ['OK', 'REWORK', 'NEEDS_INFO'] },
    why: { type: 'string' },
  },
  required: ['answer', 'why'],
}

const VETS = [
  { key: 'feasibility', ask: 'Can it be done as written, in this code, without a task that is missing from the list? Look at the paths it names.' },
  { key: 'testability', ask: 'Can the test be written before the change, does it fail then, and does it pass only if the criterion holds?' },
]

// The rules that git operator task has for ids.
function isTaskId(id) {
  return typeof id === 'string' && id.trim() !== '' && !id.startsWith('.') && !/[/|\u0000-\u001f\u007f]/.test(id) && id.length <= 200
}

// The tasks in an order in which each comes after what it depends on; null where there is none.
function inOrder(tasks) {
  const ordered = []
  const done = new Set()
  let waiting = tasks
  while (waiting.length > 0) {
    const ready = waiting.filter(task => task.dependsOn.every(id => done.has(id)))
    if (ready.length === 0) return null
    ready.forEach(task => done.add(task.id))
    ordered.push(...ready)
    waiting = waiting.filter(task => !done.has(task.id))
  }
  return ordered
}

function problemsOf(tasks) {
  const problems = []
  const ids = tasks.map(task => task.id)
  for (const task of tasks) {
    const name = isTaskId(task.id) ? task.id : JSON.stringify(task.id ?? null)
    if (!isTaskId(task.id)) problems.push(`${name} cannot be a task id`)
    if (ids.indexOf(task.id) !== ids.lastIndexOf(task.id)) problems.push(`${name} stands twice`)
    for (const field of ['title', 'criterion', 'test', 'change']) {
      if (textOf(task[field]) === '') problems.push(`${name} has no ${field}`)
    }
    if (!Array.isArray(task.dependsOn)) { problems.push(`${name} has no dependsOn`); continue }
    for (const id of task.dependsOn) {
      if (!ids.includes(id)) problems.push(`${name} depends on ${id}, which is no task`)
    }
  }
  return [...new Set(problems)]
}

const input = parsed(args)
const options = input && typeof input === 'object' && !Array.isArray(input) ? input : { spec: input }
const spec = textOf(options.spec)
if (spec === '') return refuse('no spec: pass the text of the approved spec as args.spec')
if (!/^Status: APPROVED @\S+/m.test(spec)) {
  return refuse('the spec is not approved: git operator spec approve <slug> writes its Status line')
}
if (!/^Missed if: *\S/m.test(spec)) return refuse("the spec's north star has no 'Missed if:' line")
const { tiers, problem } = readTiers(options.tiers)
if (problem) return refuse(problem)
const context = textOf(options.context)
const scene = `The approved spec:\n${spec}\n${context ? `\nWhat is known besides:\n${context}\n` : ''}`

phase('Decompose')
const plan = await seat(
  `${scene}\nCut it into tasks that each begin with a failing test, serve one done criterion, touch few paths and can be checked alone. At most ${MOST_TASKS}. Name the criteria no task serves, and what only the user can answer. Nothing from "Out of scope".`,
  { label: 'decompose', phase: 'Decompose', schema: TASKS, model: tiers.JUDGMENT },
)
const empty = { tasks: [], vetting: [], needsInfo: [], vettingIncomplete: [] }
const lists = plan ? [plan.tasks, plan.uncovered, plan.questions] : []
if (!plan || !lists.every(Array.isArray) || !plan.tasks.every(task => task && typeof task === 'object')) {
  return { blocked: true, reasons: ['no report from decompose'], ...empty }
}
const questions = plan.questions.map(textOf).filter(Boolean)
const reasons = problemsOf(plan.tasks)
if (plan.tasks.length === 0) reasons.push('the spec gave no task')
if (plan.tasks.length > MOST_TASKS) reasons.push(`${plan.tasks.length} tasks are more than ${MOST_TASKS}: the spec wants cutting first`)
const ordered = reasons.length === 0 ? inOrder(plan.tasks) : null
if (reasons.length === 0 && ordered === null) reasons.push('the tasks depend on each other in a circle')
// A broken graph is not vetted: the seats would judge tasks that are about to change.
if (reasons.length > 0) return { blocked: true, reasons, ...empty, tasks: plan.tasks, needsInfo: questions }
reasons.push(...plan.uncovered.map(textOf).filter(Boolean).map(criterion => `no task serves: ${criterion}`))

phase('Vet')
const jobs = ordered.flatMap(task => VETS.map(vet => ({ task, vet })))
const answers = await parallel(jobs.map(({ task, vet }) => () => seat(
  `${scene}\nOne task of the plan:\n${JSON.stringify(task, null, 1)}\n\nYour question is ${vet.key}, and nothing else. ${vet.ask}\nOK, REWORK (say what is wrong), or NEEDS_INFO (say what is missing).`,
  { label: `${vet.key}:${task.id}`.slice(0, 60), phase: 'Vet', schema: VETTING, model: tiers.MECHANICAL, agentType: 'cc-operator:op-scout' },
)))
const vetting = []
const vettingIncomplete = []
const needsInfo = [...questions]
jobs.forEach(({ task, vet }, at) => {
  const answer = answers[at]
  if (!answer || !['OK', 'REWORK', 'NEEDS_INFO'].includes(answer.answer)) {
    vettingIncomplete.push(`${vet.key}:${task.id}`)
    return
  }
  vetting.push({ task: task.id, question: vet.key, answer: answer.answer, why: textOf(answer.why) })
  if (answer.answer === 'REWORK') reasons.push(`${task.id} needs rework (${vet.key}): ${textOf(answer.why)}`)
  if (answer.answer === 'NEEDS_INFO') needsInfo.push(`${task.id}: ${textOf(answer.why)}`)
})
reasons.push(...vettingIncomplete.map(name => `no report from ${name}`))
reasons.push(...needsInfo.map(question => `needs an answer: ${question}`))
return { blocked: reasons.length > 0, reasons, tasks: ordered, vetting, needsInfo, vettingIncomplete }
