import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { whenFirstAsked } from '../../capture/basics/once.ts';

/** `low` lowers the priority of browsers, `idle` gives them only time that nothing else wants. */
export type BrowserPriority = 'low' | 'idle';

/**
 * Lowers the browser's priority, so that requests are answered before pages are drawn. Measured on two cores at ten
 * times the capacity: 99 % of refusals took 9 to 20 ms instead of 110 to 250 ms, at the same number of captures.
 */
export const NICENESS = 10;
const LOW = ['nice', '-n', String(NICENESS)];
/** `chrt` of util-linux sets Linux's scheduling policy for idle work (sched(7)). It needs no privilege. */
const IDLE = ['chrt', '--idle', '0'];
/** Creates a process group within the service's session, and does nothing else. */
const GROUP = ['timeout', '0'];

const NOT_IDLE = 'browsers have a low priority, because --browser-priority idle does not work here';

/** Returns the command that starts a browser, to be put in front of its own; empty without the coreutils. */
export type StartCommand = () => Promise<readonly string[]>;

/**
 * Creates the command that gives browsers a lower priority and a process group of their own within the service's
 * session. Linux divides its cores between sessions first (sched(7)), so the priority of a browser in another session
 * would have no effect; and Node can create a group only together with a session. Reports to `warn`, once, when the
 * system does not allow `idle`; browsers then have a low priority.
 */
export function startCommand(priority: BrowserPriority, warn: (text: string) => void): StartCommand {
  const find = async (): Promise<readonly string[]> => {
    if (!(await hasCoreutils())) {
      if (priority === 'idle') warn(`${NOT_IDLE}: the coreutils are missing`);
      return [];
    }
    if (priority === 'low') return [...LOW, ...GROUP];
    const [program = '', ...args] = IDLE;
    try {
      await run(program, [...args, 'true']);
      return [...IDLE, ...LOW, ...GROUP];
    } catch (error) {
      warn(`${NOT_IDLE}: ${firstLine(error)}`);
      return [...LOW, ...GROUP];
    }
  };
  return whenFirstAsked(find);
}

const run = promisify(execFile);

/** Whether each search path of programs has the coreutils. Asking costs a process. */
const asked = new Map<string | undefined, Promise<boolean>>();

function hasCoreutils(): Promise<boolean> {
  const { PATH } = process.env;
  const known =
    asked.get(PATH) ??
    run('timeout', ['--version']).then(
      ({ stdout }) => stdout.includes('coreutils'),
      () => false,
    );
  asked.set(PATH, known);
  return known;
}

function firstLine(error: unknown): string {
  const { stderr, message } = Object(error);
  return String(stderr || message).split('\n', 1)[0] ?? '';
}
