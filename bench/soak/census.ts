import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { callOver, debuggingAddressOf } from '../../test/support/debugging-port.ts';
import { within } from './time-limit.ts';

/** Time limit for the answers of one browser; a hung browser does not answer. */
const ANSWER_MS = 2000;

const CONTEXTS = z.object({ result: z.object({ browserContextIds: z.array(z.string()) }) });
const TARGETS = z.object({ result: z.object({ targetInfos: z.array(z.object({ type: z.string() })) }) });

export interface BrowserCensus {
  readonly profiles: number;
  readonly contexts: number;
  readonly pages: number;
}

/**
 * Counts contexts and pages of the browsers whose profiles are in a directory. Each browser is asked over a debugging
 * port, which it has in addition to the service's pipe (see `observable`). Both counts are NaN while a browser does
 * not answer.
 */
export async function browserCensus(directory: string): Promise<BrowserCensus> {
  const profiles = (await readdir(directory)).filter((name) => name.startsWith('capstan-profile-'));
  const counts = await Promise.all(profiles.map((name) => countIn(join(directory, name))));
  return {
    profiles: profiles.length,
    contexts: counts.reduce((sum, { contexts }) => sum + contexts, 0),
    pages: counts.reduce((sum, { pages }) => sum + pages, 0),
  };
}

/** Returns a script that starts a browser with a debugging port; the browser writes the port into its profile. */
export function observable(executable: string): string {
  return `#!/bin/sh\nexec '${executable}' --remote-debugging-port=0 "$@"\n`;
}

async function countIn(profile: string): Promise<{ readonly contexts: number; readonly pages: number }> {
  try {
    const { host, path } = await debuggingAddressOf(profile);
    const asked = callOver(`ws://${host}${path}`, ['Target.getBrowserContexts', 'Target.getTargets']);
    const [contexts, targets] = await within('the count of pages', ANSWER_MS, asked);
    return {
      contexts: CONTEXTS.parse(contexts).result.browserContextIds.length,
      pages: TARGETS.parse(targets).result.targetInfos.filter(({ type }) => type === 'page').length,
    };
  } catch {
    return { contexts: Number.NaN, pages: Number.NaN };
  }
}
