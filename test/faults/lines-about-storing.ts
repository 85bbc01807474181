import { levels } from 'pino';
import { z } from 'zod';
import type { Ended } from '../commands/capstan-process.ts';

const lineSchema = z.object({
  level: z.number(),
  msg: z.string(),
  code: z.string().optional(),
  err: z.object({ code: z.string().optional() }).optional(),
});

export interface LineAboutStoring {
  readonly level: string | undefined;
  readonly msg: string;
  readonly code?: string | undefined;
  /** The system's error code, such as `ENOSPC`. */
  readonly cause?: string | undefined;
}

/** Returns the log lines which say that captures cannot be stored, or can be stored again. */
export function linesAboutStoring({ stderr }: Pick<Ended, 'stderr'>): readonly LineAboutStoring[] {
  return stderr
    .split('\n')
    .filter((line) => /"msg":"captures can(not)? be stored/.test(line))
    .map((line) => lineSchema.parse(JSON.parse(line)))
    .map(({ level, msg, code, err }) => ({ level: levels.labels[level], msg, code, cause: err?.code }));
}
