import type { Config } from '../config/mod.ts';
import { readMemory } from '../pressure/memory.ts';
import { gib } from './disk.ts';
import { type Finding, findingsOf } from './finding.ts';

const memory = findingsOf('memory');
const MIB = 1024 ** 2;
/** Measured: see Sizing in docs/operations.md. */
const IDLE_BYTES = 220 * MIB;
const CAPTURE_BYTES = 60 * MIB;

export function examineMemory({
  maxConcurrent,
  minFreeMemory,
}: Pick<Config, 'maxConcurrent' | 'minFreeMemory'>): readonly Finding[] {
  const known = readMemory();
  if (known === null) return memory.ok('not reported by this system, and not limited');
  const { availableBytes, totalBytes } = known;
  const found = `${gib(availableBytes)} of ${gib(totalBytes)} available`;
  if ((availableBytes / totalBytes) * 100 < minFreeMemory) {
    return memory.failure(found, `free memory: below ${minFreeMemory} % (--min-free-memory) captures are refused`);
  }
  const wanted = IDLE_BYTES + maxConcurrent * CAPTURE_BYTES;
  const advice = `give it more, or lower --max-concurrent: ${maxConcurrent} captures at once need about ${gib(wanted)}`;
  return availableBytes < wanted ? memory.warning(found, advice) : memory.ok(found);
}
