import { ARTIFACT_STORES, DATABASE_OPTIONS, databaseOf } from '../capture/artifacts/artifacts.ts';
import { suggestion } from '../capture/basics/similar-names.ts';
import { KEY_LINE } from '../capture/named-key.ts';
import { ConfigError } from './config-error.ts';
import { type ReadFile, readNamedFile, readSecret, readSecrets } from './files.ts';
import type { Machine } from './kinds.ts';
import { masked } from './mask.ts';
import { readKeyLines } from './named-keys.ts';
import { type Config, configSchema, flagOf, OPTIONS, type Option, variableOf } from './options.ts';
import { readRetainDays } from './retain-days.ts';

export interface ConfigSources {
  /** Values from the command line, by option name, including `config`. Absent options are not set. */
  readonly flags: Readonly<Record<string, unknown>>;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Returns the text of a file. @throws When it cannot be read. */
  readonly readFile: ReadFile;
  readonly machine: Machine;
}

/** A value before it is checked, and its source. */
interface Setting {
  readonly value: unknown;
  /** Source, for people: completes "from ...". */
  readonly from: string;
  /** False for a default. */
  readonly chosen: boolean;
}

type Settings = ReadonlyMap<string, Setting>;

/**
 * Returns the effective configuration: a flag overrides the environment, which overrides the file named by `--config`,
 * which overrides the defaults.
 * @throws ConfigError for the first value that is not valid.
 */
export function loadConfig(sources: ConfigSources): Config {
  const named = sources.flags.config ?? sources.env[variableOf('config')];
  const given: Settings = new Map([
    ...OPTIONS.map((option): [string, Setting] => [option.name, builtIn(option, sources.machine)]),
    ...(typeof named === 'string' && named !== '' ? fromFile(sources, named) : []),
    ...fromEnvironment(sources.env),
    ...fromFlags(sources.flags),
  ]);
  return checked(withSecretsOfFiles(given, sources));
}

/**
 * Returns the configuration of an embedding program: its own values, and defaults for the rest. Reads no environment
 * and no file.
 * @throws ConfigError for the first value that is not valid.
 */
export function configOf(given: Readonly<Record<string, unknown>>, machine: Machine): Config {
  const chosen = Object.entries(given).filter(([, value]) => value !== undefined);
  for (const [name] of chosen) optionBy('name', name, `there is no option "${name}"`, 'there are');
  return checked(
    new Map([
      ...OPTIONS.map((option): [string, Setting] => [option.name, builtIn(option, machine)]),
      ...chosen.map(([name, value]): [string, Setting] => [name, { value, from: 'the program', chosen: true }]),
    ]),
  );
}

/** @throws ConfigError that says the problem, similar names, and the list of all. */
function optionBy(key: 'name' | 'variable', given: string, problem: string, list: string): Option {
  const option = OPTIONS.find((candidate) => candidate[key] === given);
  if (option !== undefined) return option;
  const known = OPTIONS.map((candidate) => candidate[key]);
  throw new ConfigError(`${problem}${suggestion([given], known)}; ${list} ${known.join(', ')}`);
}

/** @throws ConfigError for the first value that is not valid, alone or beside the others. */
function checked(settings: Settings): Config {
  refuseTwoStores(settings);
  const config = withArtifactsOfCluster(parse(settings), settings);
  checkCluster(config);
  refuseArtifactsAlone(config, settings);
  checkKeysOfS3(config);
  checkIsolation(config);
  checkIndex(config);
  checkRetention(config);
  return withTimeoutInside(config, settings);
}

function builtIn(option: Option, machine: Machine): Setting {
  const value = typeof option.default === 'function' ? option.default(machine) : option.default;
  return { value, from: 'the built-in default', chosen: false };
}

/** Returns the settings of a configuration file. Null in the file means "not set". */
function fromFile(sources: ConfigSources, path: string): [string, Setting][] {
  return Object.entries(readObject(sources, path)).flatMap(([name, value]): [string, Setting][] => {
    const option = optionBy('name', name, `${path}: there is no option "${name}"`, 'the options are');
    if (value === null) return [];
    const divided = option.kind === 'list' && typeof value === 'string' ? divide(value) : value;
    return [[name, { value: divided, from: path, chosen: true }]];
  });
}

function readObject(sources: ConfigSources, path: string): object {
  const content = parseJson(path, readNamedFile('--config', path, sources.readFile));
  if (typeof content === 'object' && content !== null && !Array.isArray(content)) return content;
  throw new ConfigError(`--config ${path} is not valid; it takes a file with one JSON object of options`);
}

/** The error names the position only: the parser's message quotes the file, which may contain a secret. */
function parseJson(path: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    const [place = 'somewhere'] = /line \d+ column \d+/.exec(String(error)) ?? [];
    throw new ConfigError(`--config ${path} is not valid; it takes JSON, and this is not JSON (${place})`);
  }
}

/**
 * An unknown variable stops the start: a misspelt `CAPSTAN_API_KEYS` would leave the service open. Variables that
 * container platforms set to link services (`CAPSTAN_PORT=tcp://10.0.0.7:8080`, `CAPSTAN_SERVICE_HOST`) are ignored. An
 * empty variable is not set, but an empty secret is an error.
 */
function fromEnvironment(env: ConfigSources['env']): [string, Setting][] {
  return Object.entries(env).flatMap(([variable, text]): [string, Setting][] => {
    if (!variable.startsWith('CAPSTAN_') || text === undefined || variable === variableOf('config')) return [];
    if (/^CAPSTAN_(SERVICE|PORT_\d+)_/.test(variable) || (variable === 'CAPSTAN_PORT' && /^\w+:\/\//.test(text)))
      return [];
    const option = optionBy('variable', variable, `${variable}: there is no such option`, 'the variables it takes are');
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

/** Converts a text to the kind of its option. Text that cannot be converted stays text, which the schema refuses. */
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
  const names: readonly string[] = Object.values(DATABASE_OPTIONS);
  const stores = OPTIONS.filter(({ name }) => names.includes(name)).flatMap((option) => {
    const setting = settings.get(option.name);
    return setting === undefined || setting.value === null ? [] : [describe(option, setting)];
  });
  if (stores.length > 1) throw new ConfigError(`two databases: ${stores.join(' and ')}; configure one of them`);
}

/** Checks the options of a cluster, which depend on each other. */
function checkCluster({ natsUrl, mongoUrl, role, natsTlsCert, natsTlsKey }: Config): void {
  if (natsUrl.length > 0 && mongoUrl === null) {
    throw new ConfigError('--nats-url needs --mongo-url: the nodes of a cluster share their records');
  }
  if (natsUrl.length === 0 && role !== 'all') {
    throw new ConfigError(`--role ${role} needs --nats-url: without it, this process is the whole service`);
  }
  if ((natsTlsCert === null) !== (natsTlsKey === null)) {
    throw new ConfigError('--nats-tls-cert and --nats-tls-key need each other; configure both or none');
  }
  if (new Set(natsUrl.map((url) => /^\w+:\/\/(?:(.*)@)?/.exec(url)?.[1])).size > 1) {
    throw new ConfigError('--nats-url takes the servers of one NATS cluster; all need the same credentials, or none');
  }
}

/** The nodes of a cluster share their captures unless another store is chosen. */
function withArtifactsOfCluster(config: Config, settings: Settings): Config {
  const isChosen = settings.get('artifacts')?.chosen === true;
  return config.natsUrl.length === 0 || isChosen ? config : { ...config, artifacts: 'gridfs' };
}

function refuseArtifactsAlone(config: Config, settings: Settings): void {
  const { artifacts } = config;
  const { needs } = ARTIFACT_STORES[artifacts];
  if (needs === null || config[needs] !== null) return;
  const from = settings.get('artifacts')?.from ?? '';
  throw new ConfigError(
    `--artifacts ${artifacts} (from ${from}) needs ${flagOf(needs)}; without it, --artifacts takes files`,
  );
}

function checkKeysOfS3({ s3AccessKey, s3SecretKey }: Config): void {
  if ((s3AccessKey === null) === (s3SecretKey === null)) return;
  throw new ConfigError('--s3-access-key and --s3-secret-key need each other; configure both or none');
}

/** Keys are told apart by their names, and lists of a key's captures are read from the database. */
function checkIsolation(config: Config): void {
  if (!config.isolateKeys) return;
  if (config.namedKeys.length === 0) {
    throw new ConfigError(`--isolate-keys needs --api-key-file with a line ${KEY_LINE} for each client`);
  }
  if (databaseOf(config) === undefined) {
    throw new ConfigError(
      '--isolate-keys needs --db-path or --mongo-url: captures of a key are listed by the database',
    );
  }
}

function checkIndex(config: Config): void {
  if (!config.indexWords || databaseOf(config) !== undefined) return;
  throw new ConfigError('--index-words needs --db-path or --mongo-url: the index is in the database');
}

/** Labels of captures are read from the database. */
function checkRetention(config: Config): void {
  if (readRetainDays(config.retainDays).ofLabels.size === 0 || databaseOf(config) !== undefined) return;
  throw new ConfigError('--retain-days with a label needs --db-path or --mongo-url: labels are found by the database');
}

function parse(settings: Settings): Config {
  const values = Object.fromEntries([...settings].map(([name, setting]) => [name, setting.value]));
  const parsed = configSchema.safeParse(values);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  throw refusal(String(issue?.path[0]), issue?.code === 'custom' ? issue.message : undefined, settings);
}

/** `why`: the message of a custom check, which is more precise than the table. */
function refusal(name: string, why: string | undefined, settings: Settings): ConfigError {
  const option = OPTIONS.find((candidate) => candidate.name === name);
  const setting = settings.get(name);
  if (option === undefined || setting === undefined) return new ConfigError(`${flagOf(name)}: there is no such option`);
  return new ConfigError(`${describe(option, setting)} is not valid; ${why ?? `it takes ${option.takes}`}`);
}

/** `--max-queue -1 (from the environment, CAPSTAN_MAX_QUEUE)`, in one line whatever the value contains. */
function describe(option: Option, setting: Setting): string {
  const value = masked(option, setting.value);
  const text = Array.isArray(value) ? value.join(',') : value;
  // Quoted where being text is the mistake: "10" in a file is not 10.
  const plain = option.kind === 'text' || option.kind === 'list';
  const shown = plain && typeof text === 'string' && /^[\w./:@*+,-]+$/.test(text) ? text : JSON.stringify(text);
  return `${option.flag} ${shown.length > 120 ? `${shown.slice(0, 120)}...` : shown} (from ${setting.from})`;
}

/** Lowering only the largest deadline lowers the default deadline too; choosing both inconsistently is an error. */
function withTimeoutInside(config: Config, settings: Settings): Config {
  if (config.timeoutMs <= config.maxTimeoutMs) return config;
  const usual = settings.get('timeoutMs');
  if (usual?.chosen !== true) return { ...config, timeoutMs: config.maxTimeoutMs };
  throw new ConfigError(
    `--timeout-ms ${config.timeoutMs} (from ${usual.from}) is not valid; it takes at most --max-timeout-ms, ${config.maxTimeoutMs}`,
  );
}

/**
 * Adds the secrets that are read from files: the option `webhookSecretFile` names the file of `webhookSecret`. When an
 * option takes several secrets, its file has one on each line. A file without a secret stops the start, because it
 * would leave the service open.
 */
function withSecretsOfFiles(settings: Settings, sources: ConfigSources): Settings {
  const added = OPTIONS.flatMap((option): [string, Setting][] => {
    const path = settings.get(`${option.name}File`)?.value;
    if (option.secret === undefined || typeof path !== 'string') return [];
    const flag = flagOf(`${option.name}File`);
    const given = settings.get(option.name);
    if (option.kind === 'list') {
      const before = Array.isArray(given?.value) ? given.value : [];
      if (option.name === 'apiKey') {
        const { plain, named } = readKeyLines(flag, path, readSecrets(flag, path, sources.readFile));
        const value = [...before, ...plain, ...named.map(({ key }) => key)];
        return [
          [option.name, { value, from: path, chosen: true }],
          ['namedKeys', { value: named, from: path, chosen: true }],
        ];
      }
      const value = [...before, ...readSecrets(flag, path, sources.readFile)];
      return [[option.name, { value, from: path, chosen: true }]];
    }
    const value = readSecret(flag, path, sources.readFile);
    if (given !== undefined && given.value !== null) {
      throw new ConfigError(`${describe(option, given)} and ${flag} ${path}; configure one of them`);
    }
    return [[option.name, { value, from: path, chosen: true }]];
  });
  return new Map([...settings, ...added]);
}
