import type { Machine } from './kinds.ts';
import { masked } from './mask.ts';
import { type Config, configSchema, flagOf, OPTIONS, type Option, variableOf } from './options.ts';

/** The start cannot go on. The message is one line, for people, and shows no secret. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

export interface ConfigSources {
  /** What the command line gave, by option name, `config` among them. What was not given is absent. */
  readonly flags: Readonly<Record<string, unknown>>;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The text of a file; throws when there is none. */
  readonly readFile: (path: string) => string;
  /** `config/default.json`. */
  readonly defaultsFile: string;
  readonly machine: Machine;
}

/** A value that is not yet checked, and where it came from. */
interface Setting {
  readonly value: unknown;
  /** For people: completes "from ...". */
  readonly from: string;
  /** Somebody chose it, in other words it is not from the file of defaults. */
  readonly chosen: boolean;
}

type Settings = ReadonlyMap<string, Setting>;

/**
 * The effective configuration: a flag beats the environment, which beats the file named by `--config`, whose keys
 * beat those of the file of defaults. Throws a `ConfigError` for the first thing that is wrong.
 */
export function loadConfig(sources: ConfigSources): Config {
  const named = sources.flags.config ?? sources.env[variableOf('config')];
  const settings: Settings = new Map([
    ...OPTIONS.map((option): [string, Setting] => [option.name, builtIn(option, sources.machine)]),
    ...fromFile(sources, sources.defaultsFile, false),
    ...(typeof named === 'string' && named !== '' ? fromFile(sources, named, true) : []),
    ...fromEnvironment(sources.env),
    ...fromFlags(sources.flags),
  ]);
  refuseTwoStores(settings);
  const config = parse(settings);
  return withKeysOfFile(withTimeoutInside(config, settings), sources);
}

/**
 * The configuration of a program that brings its own values; the rest is as in the table. Reads no environment and no
 * file. Throws a `ConfigError` for the first thing that is wrong.
 */
export function configOf(given: Readonly<Record<string, unknown>>, machine: Machine): Config {
  const chosen = Object.entries(given).filter(([, value]) => value !== undefined);
  const unknown = chosen.find(([name]) => OPTIONS.every((option) => option.name !== name));
  if (unknown !== undefined) {
    const known = OPTIONS.map(({ name }) => name).join(', ');
    throw new ConfigError(`there is no option "${unknown[0]}"; there are ${known}`);
  }
  const settings: Settings = new Map([
    ...OPTIONS.map((option): [string, Setting] => [option.name, builtIn(option, machine)]),
    ...chosen.map(([name, value]): [string, Setting] => [name, { value, from: 'the program', chosen: true }]),
  ]);
  refuseTwoStores(settings);
  return withTimeoutInside(parse(settings), settings);
}

function builtIn(option: Option, machine: Machine): Setting {
  const value = typeof option.default === 'function' ? option.default(machine) : option.default;
  return { value, from: 'the built-in default', chosen: false };
}

/** A key that is null is not set. */
function fromFile(sources: ConfigSources, path: string, chosen: boolean): [string, Setting][] {
  return Object.entries(readObject(sources, path)).flatMap(([name, value]): [string, Setting][] => {
    const option = OPTIONS.find((candidate) => candidate.name === name);
    if (option === undefined) {
      const known = OPTIONS.map((candidate) => candidate.name).join(', ');
      throw new ConfigError(`${path}: there is no option "${name}"; the keys it takes are ${known}`);
    }
    if (value === null) return [];
    const divided = option.kind === 'list' && typeof value === 'string' ? divide(value) : value;
    return [[name, { value: divided, from: path, chosen }]];
  });
}

function readObject(sources: ConfigSources, path: string): object {
  const content = parseJson(path, read(sources, '--config', path));
  if (typeof content === 'object' && content !== null && !Array.isArray(content)) return content;
  throw new ConfigError(`--config ${path} cannot be; it takes a file with one JSON object of options`);
}

/** Says where and not what: the parser's own message quotes the file, and a key may stand there. */
function parseJson(path: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    const [place = 'somewhere'] = /line \d+ column \d+/.exec(String(error)) ?? [];
    throw new ConfigError(`--config ${path} cannot be; it takes JSON, and this is none (${place})`);
  }
}

function read(sources: ConfigSources, flag: string, path: string): string {
  try {
    return sources.readFile(path);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new ConfigError(`${flag} ${path} cannot be read: ${reason.split('\n', 1).join('')}`, { cause: error });
  }
}

/**
 * An unknown variable stops the start: a misspelt `CAPSTAN_API_KEYS` that nobody reads would leave the service open.
 * A container platform that links services by variables (`CAPSTAN_PORT=tcp://10.0.0.7:8080`, `CAPSTAN_SERVICE_HOST`)
 * sets names that nobody chose; those are passed over. An empty variable is not set, but an empty key is a mistake.
 */
function fromEnvironment(env: ConfigSources['env']): [string, Setting][] {
  return Object.entries(env).flatMap(([variable, text]): [string, Setting][] => {
    if (!variable.startsWith('CAPSTAN_') || text === undefined || variable === variableOf('config')) return [];
    if (/^CAPSTAN_(SERVICE|PORT_\d+)_/.test(variable) || (variable === 'CAPSTAN_PORT' && /^\w+:\/\//.test(text)))
      return [];
    const option = OPTIONS.find((candidate) => candidate.variable === variable);
    if (option === undefined) {
      const known = OPTIONS.map((candidate) => candidate.variable).join(', ');
      throw new ConfigError(`${variable}: there is no such option; the variables it takes are ${known}`);
    }
    if (text === '' && option.secret === undefined) return [];
    return [[option.name, { value: fromText(option, text), from: `the environment, ${variable}`, chosen: true }]];
  });
}

function fromFlags(flags: ConfigSources['flags']): [string, Setting][] {
  return OPTIONS.flatMap((option): [string, Setting][] => {
    const given = flags[option.name];
    if (given === undefined) return [];
    const value =
      Array.isArray(given) && option.repeatable === undefined
        ? given.flatMap((element) => divide(String(element)))
        : typeof given === 'string'
          ? fromText(option, given)
          : given;
    return [[option.name, { value, from: 'the command line', chosen: true }]];
  });
}

const SWITCH: ReadonlyMap<string, boolean> = new Map([
  ['true', true],
  ['1', true],
  ['false', false],
  ['0', false],
]);

/** Text that does not read as its kind stays text, for the schema to refuse. */
function fromText(option: Option, text: string): unknown {
  switch (option.kind) {
    case 'text':
      return text;
    case 'number':
      return /^-?\d+(\.\d+)?$/.test(text.trim()) ? Number(text) : text;
    case 'list':
      return divide(text);
    case 'switch':
      return SWITCH.get(text.toLowerCase()) ?? text;
  }
}

function divide(text: string): readonly string[] {
  return text.split(',').map((element) => element.trim());
}

function refuseTwoStores(settings: Settings): void {
  const stores = OPTIONS.filter(({ name }) => name === 'dbPath' || name === 'mongoUrl').flatMap((option) => {
    const setting = settings.get(option.name);
    return setting === undefined || setting.value === null ? [] : [describe(option, setting)];
  });
  if (stores.length > 1) throw new ConfigError(`two stores at once: ${stores.join(' and ')}; give one of the two`);
}

function parse(settings: Settings): Config {
  const values = Object.fromEntries([...settings].map(([name, setting]) => [name, setting.value]));
  const parsed = configSchema.safeParse(values);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  throw refusal(String(issue?.path[0]), issue?.code === 'custom' ? issue.message : undefined, settings);
}

/** `why`: what a check of our own had to say, which is more precise than what the table says. */
function refusal(name: string, why: string | undefined, settings: Settings): ConfigError {
  const option = OPTIONS.find((candidate) => candidate.name === name);
  const setting = settings.get(name);
  if (option === undefined || setting === undefined) return new ConfigError(`${flagOf(name)}: there is no such option`);
  return new ConfigError(`${describe(option, setting)} cannot be; ${why ?? `it takes ${option.takes}`}`);
}

/** `--max-queue -1 (from the environment, CAPSTAN_MAX_QUEUE)`, in one line whatever the value holds. */
function describe(option: Option, setting: Setting): string {
  const value = masked(option, setting.value);
  const text = Array.isArray(value) ? value.join(',') : value;
  // In quotes where text is the mistake: "10" in a file is not 10.
  const plain = option.kind === 'text' || option.kind === 'list';
  const shown = plain && typeof text === 'string' && /^[\w./:@*+,-]+$/.test(text) ? text : JSON.stringify(text);
  return `${option.flag} ${shown.length > 120 ? `${shown.slice(0, 120)}...` : shown} (from ${setting.from})`;
}

/** Whoever only lowers the largest deadline means the usual one too; whoever chose both has made a mistake. */
function withTimeoutInside(config: Config, settings: Settings): Config {
  if (config.timeoutMs <= config.maxTimeoutMs) return config;
  const usual = settings.get('timeoutMs');
  if (usual?.chosen !== true) return { ...config, timeoutMs: config.maxTimeoutMs };
  throw new ConfigError(
    `--timeout-ms ${config.timeoutMs} (from ${usual.from}) cannot be; it takes at most --max-timeout-ms, ${config.maxTimeoutMs}`,
  );
}

/** A file without a key stops the start: whoever names one wants a check to be made. */
function withKeysOfFile(config: Config, sources: ConfigSources): Config {
  if (config.apiKeyFile === null) return config;
  const keys = read(sources, '--api-key-file', config.apiKeyFile)
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
  const parsed = configSchema.shape.apiKey.min(1).safeParse(keys);
  if (parsed.success) return { ...config, apiKey: [...config.apiKey, ...parsed.data] };
  throw new ConfigError(
    `--api-key-file ${config.apiKeyFile} cannot be; it takes a file with one key on each line, printable ASCII characters without spaces or commas`,
  );
}
