import { describe, expect, it } from 'vitest';
import { OPTIONS, printableConfig } from '../../src/config/mod.ts';
import { load, refusal } from './sources.ts';

describe('loadConfig', () => {
  it('takes the default of every option that is not given', () => {
    for (const [name, value] of Object.entries(load({}))) {
      const option = OPTIONS.find((candidate) => candidate.name === name);
      if (option !== undefined && typeof option.default !== 'function') expect(value, name).toEqual(option.default);
    }
    expect(load({})).toMatchObject({ maxConcurrent: 8, namedKeys: [] });
  });

  it('prefers flags to the environment, then the named file, then the defaults', () => {
    const files = { 'mine.json': '{"maxQueue": 30, "maxBatch": 30, "timeoutMs": 30}' };
    const env = { CAPSTAN_CONFIG: 'mine.json', CAPSTAN_MAX_QUEUE: '20', CAPSTAN_MAX_BATCH: '20' };
    const config = load({ flags: { maxQueue: '10' }, env, files });
    expect(config).toMatchObject({ maxQueue: 10, maxBatch: 20, timeoutMs: 30, graceMs: 10_000 });
  });

  it('prefers --config to CAPSTAN_CONFIG', () => {
    const files = { 'a.json': '{"maxQueue": 1}', 'b.json': '{"maxQueue": 2}' };
    expect(load({ flags: { config: 'a.json' }, env: { CAPSTAN_CONFIG: 'b.json' }, files }).maxQueue).toBe(1);
  });

  it.each(OPTIONS.map(({ name, flag, variable }) => ({ name, flag, variable })))(
    'reads $name as $flag, $variable and a key of the file alike',
    ({ name, variable }) => {
      const [text, value] = SAMPLES[name] ?? [];
      const files = { 'c.json': JSON.stringify({ [name]: value }), keys: 'k1\n\nk2\n', ...SECRET_FILES };
      const flag = typeof value === 'boolean' ? value : Array.isArray(value) ? value : text;
      const expected = { [name]: value, ...IN_FILES[name] };
      const env = NEEDED[name] ?? {};
      expect(load({ flags: { [name]: flag }, env, files })).toMatchObject(expected);
      expect(load({ env: { ...env, [variable]: text }, files })).toMatchObject(expected);
      expect(load({ flags: { config: 'c.json' }, env, files })).toMatchObject(expected);
    },
  );

  it('refuses an index without a database', () => {
    expect(refusal({ flags: { indexWords: true } })).toContain('--index-words needs --db-path or --mongo-url');
  });

  it('adds the keys of a file to the keys from other sources', () => {
    const given = { flags: { apiKey: ['one'], apiKeyFile: 'keys' }, files: { keys: ' two \r\nthree' } };
    expect(load(given).apiKey).toEqual(['one', 'two', 'three']);
  });

  it('offers a -file form of every secret, except URLs that seldom have credentials', () => {
    const names = OPTIONS.map(({ name }) => name);
    const secrets = OPTIONS.filter(({ secret }) => secret === 'whole').map(({ name }) => name);
    for (const name of [...secrets, 'mongoUrl', 'natsUrl']) expect(names).toContain(`${name}File`);
  });

  it('rejects a secret that is given twice, without showing it', () => {
    const line = refusal({ flags: { mongoUrl: 'mongodb://me:hush@h/d', mongoUrlFile: 'url' }, files: SECRET_FILES });
    expect(line).toContain('--mongo-url-file url; configure one of them');
    expect(line).not.toContain('hush');
    expect(refusal({ flags: { dbPath: 'a.db', mongoUrlFile: 'url' }, files: SECRET_FILES })).toMatch(/^two databases/);
  });

  it('takes the key of a flag unchanged, and splits lists of targets at commas', () => {
    expect(load({ flags: { allowTargets: ['127.0.0.1, ::1', 'x.internal'] } }).allowTargets).toEqual([
      '127.0.0.1',
      '::1',
      'x.internal',
    ]);
    expect(refusal({ flags: { apiKey: ['a,b'] } })).toContain('--api-key');
  });

  it.each([
    [{ dbPath: 'x.db' }, '--isolate-keys needs --api-key-file with a line name:key[:rate][:scope] for each client'],
    [{ dbPath: 'x.db', apiKeyFile: 'key' }, '--isolate-keys needs --api-key-file with a line'],
    [{ apiKeyFile: 'named' }, '--isolate-keys needs --db-path or --mongo-url: captures of a key are listed'],
  ])('refuses --isolate-keys with %j, and says what it needs', (flags, line) => {
    expect(refusal({ flags: { isolateKeys: true, ...flags }, files: SECRET_FILES })).toContain(line);
  });

  it('lowers the default deadline to the maximum unless both are set', () => {
    expect(load({ flags: { maxTimeoutMs: '5000' } }).timeoutMs).toBe(5000);
    expect(refusal({ flags: { maxTimeoutMs: '5000', timeoutMs: '6000' } })).toBe(
      '--timeout-ms 6000 (from the command line) is not valid; it takes at most --max-timeout-ms, 5000',
    );
  });

  it('ignores empty variables, and variables that container platforms set', () => {
    const env = {
      CAPSTAN_DB_PATH: '',
      CAPSTAN_PORT: 'tcp://10.0.0.7:8080',
      CAPSTAN_PORT_8080_TCP_ADDR: '10.0.0.7',
      CAPSTAN_SERVICE_HOST: '10.0.0.7',
      PATH: '/bin',
    };
    expect(load({ env })).toEqual(load({}));
  });
});

const WEBHOOK_SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const SIGNING_KEY = 'k'.repeat(32);
const RECEIVER = 'team=slack:https://hooks.slack.com/services/T0/B0/x';
const SECRET_FILES = {
  receivers: `${RECEIVER}\n`,
  named: 'shop:k3:read\n',
  signing: `${SIGNING_KEY}\n`,
  servers: 'nats://a\nnats://b',
  url: 'mongodb://me:hush@h/d\n',
  secrets: `${WEBHOOK_SECRET}\n`,
  key: 'sesame\n',
};
/** Values that a file of secrets adds. */
const IN_FILES: Readonly<Record<string, object>> = {
  natsUrlFile: { natsUrl: ['nats://a', 'nats://b'] },
  apiKeyFile: { apiKey: ['k1', 'k2'] },
  signingKeyFile: { signingKey: [SIGNING_KEY] },
  mongoUrlFile: { mongoUrl: 'mongodb://me:hush@h/d' },
  webhookSecretFile: { webhookSecret: [WEBHOOK_SECRET] },
  notifyFile: { notify: [RECEIVER] },
  ipinfoKeyFile: { ipinfoKey: 'sesame' },
  s3AccessKeyFile: { s3AccessKey: 'sesame' },
  s3SecretKeyFile: { s3SecretKey: 'sesame' },
};

/** Each option as text and as its parsed value. */
const SAMPLES: Readonly<Record<string, readonly [text: string, value: unknown]>> = {
  isolateKeys: ['true', true],
  host: ['::1', '::1'],
  port: ['0', 0],
  apiKey: ['old,new', ['old', 'new']],
  apiKeyFile: ['keys', 'keys'],
  signingKey: [SIGNING_KEY, [SIGNING_KEY]],
  signingKeyFile: ['signing', 'signing'],
  maxShareDays: ['7', 7],
  corsOrigins: ['https://app.example,http://localhost:3000', ['https://app.example', 'http://localhost:3000']],
  mongoUrlFile: ['url', 'url'],
  webhookSecretFile: ['secrets', 'secrets'],
  notify: [RECEIVER, [RECEIVER]],
  notifyFile: ['receivers', 'receivers'],
  alert: ['team', ['team']],
  publicUrl: ['https://shots.example/', 'https://shots.example/'],
  ipinfoKeyFile: ['key', 'key'],
  allowedHosts: ['capstan.internal,::1', ['capstan.internal', '::1']],
  dbPath: ['a.db', 'a.db'],
  mongoUrl: ['mongodb://h/d', 'mongodb://h/d'],
  dataDir: ['d', 'd'],
  artifacts: ['files', 'files'],
  s3Bucket: ['captures', 'captures'],
  s3Endpoint: ['http://store:3900', 'http://store:3900'],
  s3Region: ['garage', 'garage'],
  s3Prefix: ['some/prefix/', 'some/prefix/'],
  s3Addressing: ['virtual', 'virtual'],
  s3Presign: ['5m', 300],
  s3AccessKey: ['AKIA', 'AKIA'],
  s3AccessKeyFile: ['key', 'key'],
  s3SecretKey: ['a/b+c', 'a/b+c'],
  s3SecretKeyFile: ['key', 'key'],
  requireStore: ['true', true],
  indexWords: ['true', true],
  retainDays: ['0.5,label:legal=3650', ['0.5', 'label:legal=3650']],
  retainBytes: ['1.5G', 1_610_612_736],
  thumbnailBytes: ['1M', 1_048_576],
  maxConcurrent: ['3', 3],
  maxQueue: ['0', 0],
  maxDials: ['0', 0],
  maxBatchConcurrency: ['6', 6],
  maxBatch: ['7', 7],
  maxSubscribers: ['7', 7],
  timeoutMs: ['1500', 1500],
  maxTimeoutMs: ['60000', 60_000],
  maxConnections: ['50', 50],
  maxMemoryMb: ['512', 512],
  minFreeMemory: ['0', 0],
  maxLoopDelayMs: ['500', 500],
  allowTargets: ['10.0.0.0/8,wiki.internal', ['10.0.0.0/8', 'wiki.internal']],
  denyTargets: ['example.com', ['example.com']],
  nameServers: ['10.0.0.53,[fd00::53]:5353', ['10.0.0.53', '[fd00::53]:5353']],
  technologyRules: ['/etc/capstan/rules.json', '/etc/capstan/rules.json'],
  webhook: ['https://a.test/hook,https://b.test/', ['https://a.test/hook', 'https://b.test/']],
  webhookSecret: ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw']],
  allowWebhooks: ['10.1.2.3,hooks.internal', ['10.1.2.3', 'hooks.internal']],
  browserPath: ['/bin/chrome', '/bin/chrome'],
  sandbox: ['off', 'off'],
  browserPriority: ['idle', 'idle'],
  honestUserAgent: ['true', true],
  retireAfter: ['9', 9],
  ipinfo: ['true', true],
  ipinfoUrl: ['http://127.0.0.1:9/', 'http://127.0.0.1:9/'],
  ipinfoKey: ['sesame', 'sesame'],
  ipinfoRate: ['0.5', 0.5],
  natsUrl: ['nats://a:4222,tls://b', ['nats://a:4222', 'tls://b']],
  natsUrlFile: ['servers', 'servers'],
  natsCreds: ['user.creds', 'user.creds'],
  natsTlsCa: ['ca.pem', 'ca.pem'],
  natsTlsCert: ['cert.pem', 'cert.pem'],
  natsTlsKey: ['key.pem', 'key.pem'],
  clusterName: ['shots_2', 'shots_2'],
  role: ['worker', 'worker'],
  clusterMaxConcurrent: ['100000', 100_000],
  maxWaitMs: ['5000', 5000],
  logLevel: ['debug', 'debug'],
  logFile: ['capstan.log', 'capstan.log'],
  otlpUrl: ['http://127.0.0.1:4318', 'http://127.0.0.1:4318'],
  graceMs: ['0', 0],
  drainDelayMs: ['5000', 5000],
};

/** Options that other options need. */
const NEEDED: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  isolateKeys: { CAPSTAN_API_KEY_FILE: 'named', CAPSTAN_DB_PATH: 'x.db' },
  indexWords: { CAPSTAN_DB_PATH: 'x.db' },
  retainDays: { CAPSTAN_DB_PATH: 'x.db' },
  natsUrl: { CAPSTAN_MONGO_URL: 'mongodb://h/d' },
  natsUrlFile: { CAPSTAN_MONGO_URL: 'mongodb://h/d' },
  natsTlsCert: { CAPSTAN_NATS_TLS_KEY: 'key.pem' },
  s3AccessKey: { CAPSTAN_S3_SECRET_KEY: 'secret' },
  s3AccessKeyFile: { CAPSTAN_S3_SECRET_KEY: 'secret' },
  s3SecretKey: { CAPSTAN_S3_ACCESS_KEY: 'access' },
  s3SecretKeyFile: { CAPSTAN_S3_ACCESS_KEY: 'access' },
  natsTlsKey: { CAPSTAN_NATS_TLS_CERT: 'cert.pem' },
  role: { CAPSTAN_MONGO_URL: 'mongodb://h/d', CAPSTAN_NATS_URL: 'nats://h' },
};

describe('loadConfig with an invalid configuration', () => {
  it.each([
    ['--port 65536', { flags: { port: '65536' } }, 'an integer from 0 to 65535'],
    ['--port 80.5', { flags: { port: '80.5' } }, 'an integer from 0 to 65535'],
    ['--retain-bytes "10GB"', { flags: { retainBytes: '10GB' } }, 'a number of bytes from 1'],
    ['--retain-bytes 0', { flags: { retainBytes: '0' } }, 'a number of bytes from 1'],
    ['--retain-days 0', { flags: { retainDays: '0' } }, 'a number from 0.01 to 36500 (days)'],
    ['--retain-days 1,2', { flags: { retainDays: '1,2' } }, 'there are two numbers without a label'],
    [
      '--retain-days "label:a=1,label:a=2"',
      { flags: { retainDays: 'label:a=1,label:a=2' } },
      'the label a occurs twice',
    ],
    ['--retain-days "label:=1"', { flags: { retainDays: 'label:=1' } }, 'label:<label>=<days>'],
    ['--max-share-days 0', { flags: { maxShareDays: '0' } }, 'a number from 0.01 to 36500 (days)'],
    ['--max-queue -1', { env: { CAPSTAN_MAX_QUEUE: '-1' } }, 'an integer from 0 to 1000000'],
    ['--max-concurrent 0', { flags: { maxConcurrent: '0' } }, 'an integer from 1 to 1000'],
    ['--max-batch "ten"', { files: { f: '{"maxBatch": "ten"}' }, flags: { config: 'f' } }, 'an integer from 1'],
    ['--grace-ms "1 s"', { flags: { graceMs: '1 s' } }, '(milliseconds)'],
    ['--sandbox maybe', { flags: { sandbox: 'maybe' } }, 'one of auto, on, off'],
    ['--log-level loud', { env: { CAPSTAN_LOG_LEVEL: 'loud' } }, 'one of fatal, error, warn'],
    ['--ipinfo "yes"', { env: { CAPSTAN_IPINFO: 'yes' } }, 'true or false'],
    ['--ipinfo-rate 0', { flags: { ipinfoRate: '0' } }, 'a number from 0.01 to 1000'],
    ['--ipinfo-url ftp://x', { flags: { ipinfoUrl: 'ftp://x' } }, 'an http:// or https:// URL'],
    ['--mongo-url localhost:27017', { flags: { mongoUrl: 'localhost:27017' } }, 'a mongodb:// or mongodb+srv:// URL'],
    ['--allow-targets 10.0.0.0/99', { flags: { allowTargets: ['10.0.0.0/99'] } }, 'a network (10.0.0.0/8'],
    ['--name-servers dns.example', { flags: { nameServers: ['dns.example'] } }, 'addresses with or without a port'],
    ['--nats-url nats:4222', { flags: { natsUrl: ['nats:4222'] } }, 'a nats:// or tls:// URL'],
    ['--cluster-name a.b', { flags: { clusterName: 'a.b' } }, '1 to 64 letters, digits, _ or -'],
    ['--role master', { flags: { role: 'master' } }, 'one of all, api, worker'],
    ['--db-path ""', { flags: { dbPath: '' } }, 'the path of a file'],
  ])('rejects %s in one line that names the accepted values', (shown, given, takes) => {
    const line = refusal(given);
    expect(line).toContain(shown);
    expect(line).toContain(takes);
    expect(line).not.toContain('\n');
  });

  it('names the source of the value', () => {
    expect(refusal({ flags: { port: 'x' } })).toContain('(from the command line)');
    expect(refusal({ env: { CAPSTAN_PORT: 'x' } })).toContain('(from the environment, CAPSTAN_PORT)');
    expect(refusal({ flags: { config: 'f' }, files: { f: '{"port": "x"}' } })).toContain('(from f)');
  });

  it('rejects any value with a single line', () => {
    expect(refusal({ flags: { sandbox: `a\nb${'c'.repeat(10_000)}` } })).toMatch(/^--sandbox "a\\nbc{1,200}\.\.\. .*$/);
  });

  it('rejects two databases from any sources', () => {
    const line = refusal({ flags: { dbPath: 'a.db' }, env: { CAPSTAN_MONGO_URL: 'mongodb://me:hush@h/d' } });
    expect(line).toBe(
      'two databases: --db-path a.db (from the command line) and ' +
        '--mongo-url mongodb://me:***@h/d (from the environment, CAPSTAN_MONGO_URL); configure one of them',
    );
  });

  it('rejects cluster options without the options that they need, and shows no secret', () => {
    const natsUrl = ['nats://me:hush@a'];
    const mongoUrl = 'mongodb://h/d';
    expect(refusal({ flags: { natsUrl } })).toMatch(/^--nats-url needs --mongo-url: /);
    expect(refusal({ flags: { role: 'worker', mongoUrl } })).toMatch(/^--role worker needs --nats-url: /);
    expect(refusal({ flags: { natsTlsKey: 'key.pem' } })).toMatch(
      /^--nats-tls-cert and --nats-tls-key need each other/,
    );
    const two = refusal({ flags: { natsUrl: [...natsUrl, 'nats://me:other@b'], mongoUrl } });
    expect(two).toMatch(/^--nats-url takes the servers of one NATS cluster; all need the same credentials/);
    expect(two).not.toContain('hush');
  });

  it('accepts captures in GridFS only with MongoDB', () => {
    expect(refusal({ flags: { artifacts: 'gridfs', dbPath: 'a.db' } })).toBe(
      '--artifacts gridfs (from the command line) needs --mongo-url; without it, --artifacts takes files',
    );
    const mongoUrl = 'mongodb://h/d';
    expect(load({ env: { CAPSTAN_ARTIFACTS: 'gridfs' }, flags: { mongoUrl } })).toMatchObject({ artifacts: 'gridfs' });
    const natsUrl = ['nats://n'];
    expect(load({ flags: { mongoUrl } }).artifacts).toBe('files');
    expect(load({ flags: { mongoUrl, natsUrl } }).artifacts).toBe('gridfs');
    expect(load({ flags: { mongoUrl, natsUrl, artifacts: 'files' } }).artifacts).toBe('files');
    expect(refusal({ flags: { artifacts: 'disk' } })).toContain('it takes one of files, gridfs, s3');
  });

  it('accepts captures in an object store only with a bucket, and both of its keys or none', () => {
    expect(refusal({ flags: { artifacts: 's3', dbPath: 'a.db' } })).toBe(
      '--artifacts s3 (from the command line) needs --s3-bucket; without it, --artifacts takes files',
    );
    const flags = { artifacts: 's3', s3Bucket: 'captures' };
    expect(load({ flags })).toMatchObject({ artifacts: 's3', s3Addressing: 'auto' });
    const alone = refusal({ flags: { ...flags, s3SecretKey: 'hush' } });
    expect(alone).toBe('--s3-access-key and --s3-secret-key need each other; configure both or none');
    expect(refusal({ flags: { ...flags, s3Bucket: 'Captures' } })).toMatch(/^--s3-bucket Captures .* is not valid/);
  });

  it('rejects an unknown key of a file and lists the accepted ones, without showing its value', () => {
    const line = refusal({ flags: { config: 'f' }, files: { f: '{"apiKeys": ["hush"]}' } });
    expect(line).toMatch(
      /^f: there is no option "apiKeys"; did you mean apiKey\?; the options are host, port, apiKey,/,
    );
    expect(line).not.toContain('hush');
  });

  it('rejects an unknown variable, since a misspelt API key variable would leave the service open', () => {
    const line = refusal({ env: { CAPSTAN_API_KEYS: 'hush' } });
    expect(line).toMatch(
      /^CAPSTAN_API_KEYS: there is no such option; did you mean CAPSTAN_API_KEY\?; the variables it takes are CAPSTAN_HOST,/,
    );
    expect(line).not.toContain('hush');
  });

  it('rejects a file that is missing or not a JSON object, and names it without quoting its content', () => {
    expect(refusal({ flags: { config: '/nowhere/f' } })).toMatch(/^--config \/nowhere\/f cannot be read: ENOENT/);
    const broken = refusal({ flags: { config: 'f' }, files: { f: '{"apiKey": "hush}' } });
    expect(broken).toMatch(/^--config f is not valid; it takes JSON/);
    expect(broken).not.toContain('hush');
    expect(refusal({ flags: { config: 'f' }, files: { f: '[]' } })).toContain('one JSON object of options');
  });

  it('rejects a key that is empty or not valid in a header, without showing it', () => {
    expect(refusal({ env: { CAPSTAN_API_KEY: '' } })).toContain('--api-key');
    const line = refusal({ flags: { apiKey: ['hush hush'] } });
    expect(line).toBe(
      '--api-key *** (from the command line) is not valid; it takes printable ASCII characters without spaces or commas',
    );
  });

  it('rejects a key file without keys, because the option asks for authentication', () => {
    expect(refusal({ flags: { apiKeyFile: 'keys' }, files: { keys: '\n \n' } })).toContain('one key on each line');
    expect(refusal({ flags: { apiKeyFile: '/nowhere/keys' } })).toContain('cannot be read');
    expect(refusal({ flags: { apiKeyFile: 'keys' }, files: { keys: 'good\nhush hush' } })).not.toContain('hush');
  });

  it('reads names, rates and scopes of keys', () => {
    const keys = 'plain\nshop:k1:60\nnews:k2::read\nroot:k3:admin\nother:k4:5:capture\nlast:k5\n';
    const config = load({ flags: { apiKey: ['a:b'], apiKeyFile: 'keys' }, files: { keys } });
    expect(config.apiKey).toEqual(['a:b', 'plain', 'k1', 'k2', 'k3', 'k4', 'k5']);
    expect(config.namedKeys.map(({ name, key, rate, scope }) => [name, key, rate, scope])).toEqual([
      ['shop', 'k1', 60, 'capture'],
      ['news', 'k2', null, 'read'],
      ['root', 'k3', null, 'admin'],
      ['other', 'k4', 5, 'capture'],
      ['last', 'k5', null, 'capture'],
    ]);
  });

  it.each([
    ['a name:hush', 'its name'],
    ['shop:', 'its key'],
    ['shop:hush:0', 'its rate'],
    ['shop:hush:often', 'its rate'],
    ['shop:hush:5:boss', 'its scope'],
    ['shop:hush:5:read:more', 'too many colons'],
  ])('refuses the key line %j without showing it', (line, wrong) => {
    const text = refusal({ flags: { apiKeyFile: 'keys' }, files: { keys: `good\n${line}` } });
    expect(text).toContain(`--api-key-file keys, key 2 is not valid (${wrong}); it takes name:key[:rate][:scope]`);
    expect(text).not.toContain('hush');
  });

  it('refuses two keys with the same name or the same secret', () => {
    const refusalOf = (keys: string) => refusal({ flags: { apiKeyFile: 'keys' }, files: { keys } });
    expect(refusalOf('a:k1\na:k2')).toContain('two of its keys have one name');
    expect(refusalOf('a:hush\nb:hush')).toMatch(/two of its keys have one key; give each its own$/);
  });
});

describe('printableConfig', () => {
  const shown = (flags: Readonly<Record<string, unknown>>) => printableConfig(load({ flags }));

  it('shows every option', () => {
    expect(Object.keys(shown({}))).toEqual(OPTIONS.map(({ name }) => name));
  });

  it('masks keys, and shows their number', () => {
    expect(shown({ apiKey: ['one', 'two'], ipinfoKey: 'three' })).toMatchObject({
      apiKey: ['***', '***'],
      ipinfoKey: '***',
    });
  });

  it.each([
    ['mongodb://me:hush@db.example/capstan', 'mongodb://me:***@db.example/capstan'],
    ['mongodb://me:hu@sh/@db.example/capstan', 'mongodb://me:***@db.example/capstan'],
    ['mongodb+srv://me:hush@db.example/?w=1', 'mongodb+srv://me:***@db.example/?w=1'],
    ['mongodb://db/?tlsCertificateKeyFilePassword=hush&w=1', 'mongodb://db/?tlsCertificateKeyFilePassword=***&w=1'],
    ['mongodb://db/?authMechanismProperties=AWS_SESSION_TOKEN:hush', 'mongodb://db/?authMechanismProperties=***'],
    ['mongodb://a:1,b:2/capstan', 'mongodb://a:1,b:2/capstan'],
  ])('shows %s as %s', (mongoUrl, masked) => {
    expect(shown({ mongoUrl }).mongoUrl).toBe(masked);
  });
});
