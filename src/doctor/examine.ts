import type { Config } from '../config/mod.ts';
import { examineArtifacts } from './artifacts.ts';
import { examineBrowser } from './browser.ts';
import { examineDatabase } from './database.ts';
import { examineDisk } from './disk.ts';
import type { Finding } from './finding.ts';
import { examineLimits } from './limits.ts';
import { examineMemory } from './memory.ts';
import { examineNats } from './nats.ts';
import { examinePort } from './port.ts';

/** Checks everything that the service needs with this configuration. A failed check is a finding, not a rejection. */
export async function examine(config: Config): Promise<readonly Finding[]> {
  const findings = await Promise.all([
    examineBrowser(config),
    examineDatabase(config),
    examineArtifacts(config),
    examineNats(config),
    examineDisk(config),
    examineMemory(config),
    examineLimits(config),
    examinePort(config),
  ]);
  return findings.flat();
}
