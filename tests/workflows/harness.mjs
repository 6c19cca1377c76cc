// Runs a workflow of the plugin with a scripted agent(), as the client runs it: one async function
// whose globals are its arguments.
import { readFileSync } from 'node:fs'

const AsyncFunction = (async () => {}).constructor
const folder = new URL('../../plugin/workflows/', import.meta.url)

export function source(name) {
  return readFileSync(new URL(`${name}.js`, folder), 'utf8')
}

export function meta(name) {
  const text = source(name)
  const literal = text.slice(text.indexOf('{'), text.indexOf('\n}\n') + 2)
  return new Function(`return ${literal}`)()
}

// `answer(call)` gives what the seat says; it may throw. Returns the result and the calls made.
export async function run(name, args, answer) {
  const calls = []
  const phases = []
  const lines = []
  const agent = async (prompt, options = {}) => {
    const call = { prompt, ...options }
    calls.push(call)
    const said = await answer(call)
    return said === undefined ? null : said
  }
  const parallel = thunks => Promise.all(thunks.map(thunk => thunk().catch(() => null)))
  const body = source(name).replace('export const meta', 'const meta')
  const main = new AsyncFunction('agent', 'parallel', 'pipeline', 'phase', 'log', 'args', body)
  const forbidden = () => { throw new Error('not available in a workflow') }
  const result = await main(agent, parallel, forbidden, title => phases.push(title), line => lines.push(line), args)
  return { result, calls, phases, lines }
}
