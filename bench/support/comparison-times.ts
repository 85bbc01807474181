import { z } from 'zod';
import { compared } from './comparison-cases.ts';
import type { ServiceProcess } from './service-process.ts';
import { median } from './statistics.ts';
import type { Finding } from './table.ts';

const captured = z.object({ data: z.object({ id: z.number() }) });

const TIMES = 7;
/** Maximum time of a comparison, and of one turn of the event loop meanwhile, in milliseconds. */
const SIZES = [
  { height: 720, target: 60 },
  { height: 16_384, target: 600 },
] as const;
const MAX_HOLD_MS = 10;

/** Compares captures of lines of words, with a banner at the top and a changed line, by requests to the service. */
export async function times(service: ServiceProcess): Promise<readonly Finding[]> {
  const findings: Finding[] = [];
  for (const { height, target } of SIZES) {
    const [a, b] = [await shoot(service, height, 0), await shoot(service, height, 40)];
    await compared(service, a, b);
    const taken: number[] = [];
    const held: number[] = [];
    for (let round = 0; round < TIMES; round += 1) {
      const turn = await service.longestTurn(async () => {
        const begun = performance.now();
        await compared(service, a, b);
        taken.push(performance.now() - begun);
      });
      held.push(turn);
    }
    const [size, longest] = [`1280 x ${height}`, Math.max(...held)];
    findings.push(
      {
        what: `comparison of ${size}`,
        figure: `${median(taken).toFixed(0)} ms (${taken.map((ms) => ms.toFixed(0)).join(', ')})`,
        target: `${target} ms`,
        met: median(taken) < target,
      },
      {
        what: `comparison of ${size}: longest turn of the event loop`,
        figure: `${longest.toFixed(1)} ms (${held.map((ms) => ms.toFixed(1)).join(', ')})`,
        target: `${MAX_HOLD_MS} ms`,
        met: longest <= MAX_HOLD_MS,
      },
    );
  }
  return findings;
}

/** Captures lines of words of this height in all, with a banner of this height above them. */
export async function shoot(service: ServiceProcess, height: number, banner: number): Promise<number> {
  const lines = Array.from({ length: Math.floor(height / 20) - 2 }, (_, at) => {
    const words = Array.from({ length: 14 }, (_, word) => ((at * 7919 + word * 104_729) % 9973).toString(36)).join(' ');
    return `<p>${at === 9 && banner > 0 ? 'Changed' : words}</p>`;
  });
  const html = `<!doctype html><style>body { margin: 0; font: 16px/20px sans-serif; height: ${height}px } p { margin: 0 40px }
    div { background: #124; height: ${banner}px }</style><div></div>${lines.join('')}`;
  const response = await fetch(`${service.origin}/screenshot`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ html, viewport: { width: 1280, height: 720 }, fullPage: height > 720, timeoutMs: 60_000 }),
  });
  const body = await response.text();
  if (response.status !== 200) throw new Error(`${response.status} ${body.slice(0, 300)}`);
  return captured.parse(JSON.parse(body)).data.id;
}
