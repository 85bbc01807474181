import { type Command, Option } from 'commander';
import { type CapstanClient, CapstanFailure, createClient } from '../../client/mod.ts';
import { addConfigFlags } from '../../config/flags.ts';
import { type Config, ConfigError, OPTIONS } from '../../config/mod.ts';
import { flagOf } from '../../config/options.ts';
import { codeOfEnd } from '../ending.ts';
import { type Server, type UseServer, withServer } from '../own-service.ts';
import { processConfig, serverUrl } from '../process-config.ts';
import { addCaptureFlags, flagError, readCaptureFlags } from '../shot/shot-options.ts';
import { tell } from '../shot/shot-there.ts';

/* Flags of commands that capture in this process or with the service at `--server`. */

const LOG_LEVELS = OPTIONS.find(({ name }) => name === 'logLevel')?.takes ?? '';

/** The largest value of --max-timeout-ms. */
const MAX_TIMEOUT_MS = '3600000';

/** Options only for captures in this process: a service at `--server` has its own values. */
const OWN_OPTIONS = ['maxTimeoutMs', 'allowTargets', 'denyTargets', 'browserPath', 'sandbox'];

function logLevelFlag(): Option {
  return new Option(
    '--log-level <level>',
    `Log lines of this level and above to standard error. Takes ${LOG_LEVELS}. Default: error, whatever CAPSTAN_LOG_LEVEL or a file says.`,
  ).helpGroup('Running:');
}

/** Returns the configuration of a process that captures with another service, which checks time limits itself. */
function configBeside(flags: Readonly<Record<string, unknown>>, logLevel: string): Config {
  const own = OWN_OPTIONS.find((name) => flags[name] !== undefined);
  if (own !== undefined) {
    throw new ConfigError(`${flagOf(own)} is for captures in this process: the service at --server has its own value`);
  }
  return processConfig({ ...flags, logLevel, maxTimeoutMs: MAX_TIMEOUT_MS });
}

/** Returns the time limit that was given; none for the service's default. */
function timeOf({ timeoutMs }: Readonly<Record<string, unknown>>, config: Config): { readonly timeoutMs?: number } {
  return timeoutMs === undefined ? {} : { timeoutMs: config.timeoutMs };
}

/** Adds the flags of a command that captures one page with a service: the one at `--server`, or one in this process. */
export function addPageFlags(command: Command): Command {
  addCaptureFlags(command).option(
    '--server <url>',
    'service that captures, in place of one of this process; --api-key is sent to it',
  );
  return addConfigFlags(command, ['timeoutMs', ...OWN_OPTIONS, 'apiKey']).addOption(logLevelFlag());
}

/** Reads the flags of `addPageFlags`. `server`: undefined for a service of this process. */
export function readPageFlags(flags: Readonly<Record<string, unknown>>): {
  readonly server: Server | undefined;
  readonly config: Config;
  /** The capture options. */
  readonly options: Readonly<Record<string, unknown>>;
} {
  const logLevel = typeof flags.logLevel === 'string' ? flags.logLevel : 'error';
  const options = readCaptureFlags(flags);
  if (typeof flags.server !== 'string') {
    const config = processConfig({ ...flags, logLevel });
    return { server: undefined, config, options: { ...options, ...timeOf(flags, config) } };
  }
  const config = configBeside(flags, logLevel);
  const server = { url: serverUrl(flags.server), apiKey: config.apiKey[0] };
  return { server, config, options: { ...options, ...timeOf(flags, config) } };
}

/** Uses the service that `readPageFlags` returned, until `work` is done or Ctrl-C aborts its signal. */
export async function withClient(
  flags: Readonly<Record<string, unknown>>,
  {
    server,
    config,
    place,
  }: Pick<ReturnType<typeof readPageFlags>, 'server' | 'config'> & {
    /** Where a service of this process keeps captures. @default nowhere */
    readonly place?: Pick<Config, 'dbPath' | 'dataDir'> | undefined;
  },
  work: (client: CapstanClient, signal: AbortSignal, baseUrl: string) => Promise<void>,
): Promise<void> {
  const use: UseServer = async ({ url: baseUrl, apiKey }, signal) => {
    try {
      await work(createClient({ baseUrl, ...(apiKey !== undefined && { apiKey }) }), signal, baseUrl);
    } catch (error) {
      if (!signal.aborted) throw commandError(error, flags);
      process.exitCode = codeOfEnd(signal);
    }
  };
  await withServer(server, config, use, place);
}

/** Converts an error answer of a service to an error of the command, which names the flag with the invalid value. */
function commandError(error: unknown, flags: Readonly<Record<string, unknown>>): unknown {
  if (!(error instanceof CapstanFailure)) return error;
  const [problem] = error.problems;
  if (problem === undefined) return new Error(tell(error), { cause: error });
  return problem.path === 'url'
    ? new ConfigError(`the URL ${problem.message}`)
    : flagError(problem.path, problem.message, flags);
}
