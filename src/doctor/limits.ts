import { readFileSync } from 'node:fs';
import type { Config } from '../config/mod.ts';
import { connectionsWithin, descriptorLimit } from '../pressure/descriptors.ts';
import { type Finding, findingsOf } from './finding.ts';

const files = findingsOf('open files');
const processes = findingsOf('processes');

/** Measured: number of processes and threads of a browser without pages, and of each page. */
const BROWSER_TASKS = 60;
const PAGE_TASKS = 20;

export function examineLimits(config: Pick<Config, 'maxConnections' | 'maxConcurrent'>): readonly Finding[] {
  return [...examineFiles(config), ...examineProcesses(config)];
}

function examineFiles({ maxConnections, maxConcurrent }: Pick<Config, 'maxConnections' | 'maxConcurrent'>) {
  const limit = descriptorLimit();
  const found = limit === null ? 'not limited, or not reported by this system' : `at most ${limit}`;
  const possible = connectionsWithin(limit, maxConnections, maxConcurrent);
  if (possible >= maxConnections) return files.ok(found);
  return files.warning(
    `${found}: ${possible} connections instead of ${maxConnections}`,
    'raise the hard limit (ulimit -Hn, LimitNOFILE= in systemd), or lower --max-connections or --max-concurrent',
  );
}

/** Checks the limits of the user and of the control group. Both count threads; root has only the group's limit. */
function examineProcesses({ maxConcurrent }: Pick<Config, 'maxConcurrent'>): readonly Finding[] {
  const isRoot = process.getuid?.() === 0;
  const ofUser = isRoot ? undefined : /^Max processes +(\d+)/m.exec(read('/proc/self/limits'))?.[1];
  const ofGroup = ['/sys/fs/cgroup/pids.max', '/sys/fs/cgroup/pids/pids.max'].map((path) => read(path).trim());
  const limits = [ofUser, ...ofGroup].flatMap((text) => (/^\d+$/.test(text ?? '') ? [Number(text)] : []));
  const limit = Math.min(...limits);
  if (limits.length === 0) return processes.ok('not limited, or not reported by this system');
  const wanted = 2 * BROWSER_TASKS + maxConcurrent * PAGE_TASKS;
  const advice = `raise the limit (ulimit -u, TasksMax= in systemd, --pids-limit in containers): ${maxConcurrent} captures at once need about ${wanted}`;
  return limit < wanted ? processes.warning(`at most ${limit}`, advice) : processes.ok(`at most ${limit}`);
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
