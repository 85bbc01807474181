import type { Profiler } from 'node:inspector';

/** Parts of the service, by the file of the function that runs or of its nearest caller. The first match wins. */
const PARTS: readonly (readonly [part: string, file: RegExp])[] = [
  ['egress proxy', /\/src\/egress\//],
  ['protocol: framing, parsing, sending', /\/src\/actors\/cdp\//],
  ['steps of a capture', /\/src\/actors\//],
  ['storing', /\/src\/storage\//],
  ['images', /\/src\/imaging\/|\/node_modules\/sharp\//],
  ['HTTP interface', /\/src\/http\/|\/node_modules\/(?:@?koa|zod)/],
  ['admission, events, log', /\/src\/|\/node_modules\//],
  // Node's own code without a caller: callbacks of the system. Only the egress proxy has an HTTP client.
  ['egress proxy', /^node:(?:_http_client|_http_agent)/],
  ['Node: HTTP server, 18 requests of the egress proxy and one of the client', /^node:(?:_http|internal\/http)/],
  ['Node: sockets and streams', /^node:(?:net|internal\/(?:stream|streams))/],
];

const NATIVE: ReadonlyMap<string, string> = new Map([
  ['(garbage collector)', 'garbage collection'],
  ['(program)', 'system calls and native code without a caller'],
]);

/** Shares of the time that a thread was busy, by part; the largest first. They add up to 1. */
export function sharesByPart({ nodes, samples = [], timeDeltas = [] }: Profiler.Profile): ReadonlyMap<string, number> {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const callers = new Map(nodes.flatMap(({ id, children = [] }) => children.map((child) => [child, id] as const)));
  const parts = new Map<number, string>();
  for (const { id } of nodes) parts.set(id, partOf(filesFrom(id, byId, callers), byId.get(id)?.callFrame.functionName));

  const busy = new Map<string, number>();
  let total = 0;
  for (const [index, id] of samples.entries()) {
    if (byId.get(id)?.callFrame.functionName === '(idle)') continue;
    const part = parts.get(id) ?? 'other';
    // A sample lasts until the next one.
    const microseconds = timeDeltas[index + 1] ?? 0;
    busy.set(part, (busy.get(part) ?? 0) + microseconds);
    total += microseconds;
  }
  const shares = [...busy].map(([part, microseconds]) => [part, microseconds / total] as const);
  return new Map(shares.toSorted(([, a], [, b]) => b - a));
}

/** Files of a function and its callers, innermost first. */
function filesFrom(
  id: number,
  byId: ReadonlyMap<number, Profiler.ProfileNode>,
  callers: ReadonlyMap<number, number>,
): readonly string[] {
  const files: string[] = [];
  for (let at: number | undefined = id; at !== undefined; at = callers.get(at)) {
    const url = byId.get(at)?.callFrame.url ?? '';
    if (url !== '') files.push(url);
  }
  return files;
}

function partOf(files: readonly string[], name = ''): string {
  const native = NATIVE.get(name);
  if (native !== undefined) return native;
  const file = files.find((url) => !url.startsWith('node:')) ?? files[0] ?? '';
  return PARTS.find(([, pattern]) => pattern.test(file))?.[0] ?? 'other code of Node';
}
