import { z } from 'zod';
import { ARTIFACT_STORE_KINDS } from '../capture/artifacts/artifacts.ts';
import { errorText } from '../capture/basics/error-text.ts';
import type { Immutable } from '../capture/basics/immutable.ts';
import { KEY_LINE, NamedKeySchema } from '../capture/named-key.ts';
import { CLUSTER_BOUNDS, LIMIT_BOUNDS } from '../capture/operation/limits.ts';
import { receiverName } from '../capture/work/receiver.ts';
import {
  bytes,
  choice,
  duration,
  file,
  integer,
  list,
  nameServers,
  type OptionFacts,
  secretFile,
  table,
  targets,
  toggle,
} from './kinds.ts';
import { NOTIFY_TAKES, readReceiver } from './receivers.ts';
import { RETAIN_DAYS_TAKES, retainDays } from './retain-days.ts';

/*
 * The one table of service options. Flags, environment variables, keys of the configuration file, `--help`,
 * `--print-config`, error texts for bad values and the table in docs/options.md derive from it.
 */

/** A part of the credentials of an object store. */
function s3Key(facts: Pick<OptionFacts, 'description' | 'placeholder'>) {
  return z
    .string()
    .regex(/^[\x21-\x7e]+$/)
    .nullable()
    .register(table, {
      kind: 'text',
      takes: 'printable ASCII characters without spaces',
      default: null,
      secret: 'whole',
      ...facts,
    });
}

const notify = list(
  z.string().superRefine((text, context) => {
    try {
      readReceiver(text);
    } catch (error) {
      context.addIssue({ code: 'custom', message: errorText(error) });
    }
  }),
  {
    description:
      'Receiver that watches, standing queries and scans may name in `notify`, such as `team=webhook:https://example.com/hook`. Repeatable.',
    placeholder: 'name=kind:address',
    takes: NOTIFY_TAKES,
    secret: 'whole',
    repeatable: true,
  },
);

/** The options by their headings in `--help` and in docs/options.md. */
const GROUPS = {
  Listening: {
    host: z
      .string()
      .regex(/^[^\s/]+$/)
      .register(table, {
        kind: 'text',
        description: 'Address to listen on.',
        placeholder: 'address',
        takes: 'an IP address or a host name',
        default: '127.0.0.1',
      }),
    port: integer(0, 65535, '', {
      description: 'Port to listen on; 0 chooses a free one.',
      default: 8080,
    }),
    apiKey: list(z.string().regex(/^[\x21-\x2b\x2d-\x7e]+$/), {
      description: 'Key that clients must send. Repeatable, so that keys can be rotated.',
      placeholder: 'secret',
      takes: 'printable ASCII characters without spaces or commas',
      secret: 'whole',
      repeatable: true,
    }),
    apiKeyFile: secretFile('--api-key', `one key on each line: a key, or ${KEY_LINE}`),
    /** Not an option: the names, rates and scopes of the keys in `apiKeyFile`. */
    namedKeys: z.array(NamedKeySchema).default([]),
    isolateKeys: toggle({
      description:
        'Named keys see their own captures and events alone; keys with the scope `admin`, and keys without a name, see all. Needs --api-key-file with named keys, and a database.',
    }),
    signingKey: list(z.string().regex(/^[\x21-\x2b\x2d-\x7e]{32,}$/), {
      description:
        'Key that signs links to GET /screenshot, shared links and feeds, which then need no API key. Repeatable, so that keys can be rotated; `capstan sign` uses the first.',
      placeholder: 'secret',
      takes: 'at least 32 printable ASCII characters without spaces or commas',
      secret: 'whole',
      repeatable: true,
    }),
    signingKeyFile: secretFile('--signing-key', 'one key on each line'),
    maxShareDays: z.number().min(0.01).max(36_500).register(table, {
      kind: 'number',
      description: 'Maximum time until a shared link to a capture expires, in days. Shared links need --signing-key.',
      placeholder: 'n',
      takes: 'a number from 0.01 to 36500 (days)',
      default: 30,
    }),
    corsOrigins: list(z.string().refine(isOrigin), {
      description: 'Origins whose pages may send requests from browsers (CORS). Without any, no other origin may.',
      placeholder: 'origin,...',
      takes: 'origins such as https://app.example.com, separated by commas',
    }),
    allowedHosts: list(z.string().regex(/^[^\s/?#@\\]+$/), {
      description:
        'Host names that requests without an API key may be sent to, besides localhost and the address that is listened on; others are answered 421.',
      placeholder: 'host,...',
      takes: 'host names and IP addresses, separated by commas',
    }),
  },
  Storing: {
    dbPath: file({
      description: 'SQLite file of the results. Without it and without --mongo-url, /results* answers 503.',
    }),
    mongoUrl: z
      .string()
      .regex(/^mongodb(\+srv)?:\/\/\S+$/)
      .nullable()
      .register(table, {
        kind: 'text',
        description:
          'MongoDB server or cluster, instead of --db-path. `timeoutMS` or `socketTimeoutMS` in the URL limits the wait for each answer of the server, in milliseconds (default 10000); the driver tries each read and write twice.',
        placeholder: 'url',
        takes: 'a mongodb:// or mongodb+srv:// URL',
        default: null,
        secret: 'url',
      }),
    mongoUrlFile: secretFile('--mongo-url', 'the URL'),
    dataDir: z.string().min(1).register(table, {
      kind: 'text',
      description: 'Directory of the files of captures: images, HTML snapshots and other outputs.',
      placeholder: 'dir',
      takes: 'the path of a directory',
      default: 'data',
    }),
    artifacts: choice(ARTIFACT_STORE_KINDS, {
      description:
        'Where captures are kept: `files`, in --data-dir; `gridfs`, in the MongoDB of --mongo-url; or `s3`, in the bucket --s3-bucket. Every process of the database reads them in the latter two.',
      placeholder: 'store',
      default: 'files',
      defaultText: 'files; with --nats-url gridfs',
    }),
    s3Bucket: z
      .string()
      .regex(/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/)
      .nullable()
      .register(table, {
        kind: 'text',
        description: 'Bucket of an object store that speaks S3. Needed with --artifacts s3; it is not created.',
        placeholder: 'bucket',
        takes: 'the name of a bucket: 3 to 63 lower case letters, digits, dots and hyphens',
        default: null,
      }),
    s3Endpoint: z
      .string()
      .regex(/^https?:\/\/[^\s/?#@]+(\/[\w./-]*)?$/)
      .nullable()
      .register(table, {
        kind: 'text',
        description: 'URL of the object store. Without it, Amazon S3 in --s3-region.',
        placeholder: 'url',
        takes: 'an http:// or https:// URL without credentials and query',
        default: null,
      }),
    s3Region: z
      .string()
      .regex(/^[\w-]+$/)
      .register(table, {
        kind: 'text',
        description: 'Region of the bucket.',
        placeholder: 'region',
        takes: 'the name of a region, such as eu-central-1',
        default: 'us-east-1',
      }),
    s3Prefix: z
      .string()
      .regex(/^([\w.-]+(\/[\w.-]+)*\/?)?$/)
      .register(table, {
        kind: 'text',
        description: 'Beginning of the keys of all objects, so that services can share a bucket.',
        placeholder: 'prefix',
        takes: 'letters, digits and ._- with slashes between them',
        default: '',
        defaultText: 'none',
      }),
    s3Addressing: choice(['auto', 'path', 'virtual'], {
      description: 'Where URLs name the bucket: in the `path`, or in the host (`virtual`).',
      placeholder: 'style',
      default: 'auto',
      defaultText: 'auto: path with --s3-endpoint, else virtual',
    }),
    s3Presign: duration('7d', {
      description:
        'Answer GET /screenshot/:id for an image with 302 to a URL of the object store that is valid for this long. Everything else is sent by the service, also to its web interface.',
    }),
    s3AccessKey: s3Key({
      description:
        'Access key of the object store. Without it, AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN, or the credentials endpoint that the environment of a container names.',
      placeholder: 'id',
    }),
    s3AccessKeyFile: secretFile('--s3-access-key', 'the access key'),
    s3SecretKey: s3Key({ description: 'Secret key of the object store.', placeholder: 'secret' }),
    s3SecretKeyFile: secretFile('--s3-secret-key', 'the secret key'),
    requireStore: toggle({
      description:
        'Refuse to start when --data-dir holds no store or the SQLite file is missing, for example because a file system is not mounted. By default, what is missing is created, unless the other of the two shows that captures were stored. Has no effect with --artifacts gridfs and s3.',
    }),
    retainDays: retainDays.register(table, {
      kind: 'list',
      description:
        'Maximum age of a capture in days; older ones are removed, files and records, except held ones. `label:legal=3650` is the maximum age of captures with this label; of several labels, the greatest age counts.',
      placeholder: 'n,...',
      takes: RETAIN_DAYS_TAKES,
      default: [],
    }),
    retainBytes: bytes({
      description:
        'Maximum size of all files together. Above it, the oldest captures of the API key with the most bytes are removed, files and records, except held ones.',
    }),
    indexWords: toggle({
      description:
        'Index the words that each captured page shows, so that `?words=` finds captures by them. In a cluster, give it to every process that captures. Needs a database; `capstan db index` adds earlier captures.',
    }),
    thumbnailBytes: bytes({
      description:
        'Maximum size of the thumbnails that one process keeps in --data-dir; above it those that were not used for longest are removed.',
      defaultText: '256M',
    }),
  },
  Limits: {
    maxConcurrent: integer(LIMIT_BOUNDS.maxConcurrent.min, LIMIT_BOUNDS.maxConcurrent.max, 'captures', {
      description: 'Maximum number of captures at the same time, batches included.',
      // Pages that wait for the network keep all cores busy at 4 per core; other pages are fastest at 1.5 per core.
      default: (machine) => machine.cores * 4,
      defaultText: '4 per core',
    }),
    maxQueue: integer(LIMIT_BOUNDS.maxQueue.min, LIMIT_BOUNDS.maxQueue.max, 'captures', {
      description: 'Maximum number of waiting captures; further ones are answered 429.',
      default: 1000,
    }),
    maxBatchConcurrency: z
      .int()
      .min(1)
      .max(LIMIT_BOUNDS.maxConcurrent.max)
      .nullable()
      .register(table, {
        kind: 'number',
        description: 'Maximum number of captures of one batch or job at the same time, whatever its `concurrency`.',
        placeholder: 'n',
        takes: `an integer from 1 to ${LIMIT_BOUNDS.maxConcurrent.max} (captures)`,
        default: null,
        defaultText: '--max-concurrent',
      }),
    maxDials: integer(0, 10_000, 'captures', {
      description:
        'Maximum number of captures whose targets are looked up and connected to at the same time, before they wait for a browser; 0 leaves that to the browsers.',
      default: 256,
    }),
    maxBatch: integer(1, 100_000, 'requests', {
      description: 'Maximum number of requests in one batch.',
      default: 1000,
    }),
    maxSubscribers: integer(1, 1_000_000, 'subscribers', {
      description:
        'Maximum number of subscribers to GET /events, of which a named key has a share; further ones are answered 429.',
      default: 1000,
    }),
    timeoutMs: integer(1, 3_600_000, 'milliseconds', {
      description: 'Deadline of a capture whose request names none.',
      default: 30_000,
    }),
    maxTimeoutMs: integer(1, 3_600_000, 'milliseconds', {
      description: 'Maximum deadline that a request may name.',
      default: 120_000,
    }),
    maxConnections: integer(1, 1_000_000, 'connections', {
      description:
        'Connections that may be open at once; one more is closed. Fewer where the hard limit of open files (ulimit -Hn) must leave some for captures.',
      // A client that waits in the queue holds a connection. The default is ten times that of the queue, so that a
      // client with too many requests gets 429 before connections are closed.
      default: 10_000,
    }),
    maxMemoryMb: z.int().min(1).max(1_048_576).nullable().register(table, {
      kind: 'number',
      description: 'Memory of the service without its browsers, above which new captures are answered 429.',
      placeholder: 'mib',
      takes: 'an integer from 1 to 1048576 (MiB)',
      // Leaves half of the memory to the browsers, and stays below V8's heap limit, at which the process would end.
      default: null,
      defaultText: "half of the machine, at most 3/4 of V8's heap limit, at least 512",
    }),
    minFreeMemory: integer(0, 90, 'per cent of the machine, or of its control group', {
      description: 'Free memory below which new captures are answered 429; 0 turns the check off.',
      // Leaves memory for open pages to grow, because the system kills processes when no memory is free.
      default: 5,
    }),
    maxLoopDelayMs: integer(50, 600_000, 'milliseconds', {
      description: 'Delay of the event loop above which new captures are answered 429.',
      // Ten times the delay measured while browsers use all cores; beyond it, deadlines are no longer kept.
      default: 1_000,
    }),
  },
  Targets: {
    allowTargets: targets({ description: 'Private targets that may be captured.' }),
    denyTargets: targets({ description: 'Public targets that may not be captured.' }),
    nameServers: nameServers({
      description:
        'Name servers for targets and receivers. The hosts file goes first; search domains are those of /etc/resolv.conf.',
      defaultText: 'those of /etc/resolv.conf',
    }),
    technologyRules: file({
      description:
        'Further rules by which captures name the software of pages, in the JSON format of Wappalyzer. Patterns are matched in linear time (RE2), and nothing of the file is run. Read at the start.',
    }),
  },
  Receivers: {
    notify,
    notifyFile: secretFile('--notify', 'one receiver on each line'),
    alert: list(receiverName, {
      description:
        'Name of a receiver of --notify that is told when the service stops and starts to admit captures, and when its database cannot be used. Repeatable.',
      placeholder: 'name',
      takes: 'the name of a receiver of --notify',
      repeatable: true,
    }),
    publicUrl: z
      .url({ protocol: /^https?$/ })
      .nullable()
      .register(table, {
        kind: 'text',
        description:
          'URL by which people reach the service, for the links in messages. Without it, messages have none.',
        placeholder: 'url',
        takes: 'an http:// or https:// URL',
        default: null,
      }),
    webhook: list(z.url({ protocol: /^https?$/ }), {
      description: 'URL that is sent how every capture and batch ended, and what watches found. Repeatable.',
      placeholder: 'url',
      takes: 'an http:// or https:// URL',
      secret: 'url',
      repeatable: true,
    }),
    webhookSecret: list(z.string().regex(/^whsec_[A-Za-z0-9+/]{32,86}={0,2}$/), {
      description:
        'Secret that signs webhooks; without one, none are sent. Repeatable, so that secrets can be rotated.',
      placeholder: 'secret',
      takes: 'whsec_ and 24 to 64 bytes in base64',
      secret: 'whole',
      repeatable: true,
    }),
    webhookSecretFile: secretFile('--webhook-secret', 'one secret on each line'),
    allowWebhooks: targets({
      description: 'Private receivers that messages may be sent to; --allow-targets does not apply to them.',
    }),
  },
  Browser: {
    browserPath: file({
      description: 'Chromium executable. By default, the first one found that Playwright, the system or npm installed.',
      defaultText: 'found',
    }),
    sandbox: choice(['auto', 'on', 'off'], {
      description:
        "Chromium's sandbox. `auto` turns it off only where the system does not allow it. When the service is root, browsers run as nobody.",
      placeholder: 'mode',
      default: 'auto',
    }),
    browserPriority: choice(['low', 'idle'], {
      description:
        'How far browsers yield to the service. `idle` gives them only the time that no other program of the container, systemd unit or login session wants; choose it where the service is alone in its own.',
      placeholder: 'priority',
      default: 'low',
    }),
    honestUserAgent: toggle({
      description:
        'Tell pages that they are shown by a headless browser (`HeadlessChrome`, `navigator.webdriver`). Without it they see the same version of Chrome for desktops.',
    }),
    retireAfter: integer(1, 1_000_000, 'captures', {
      description: 'Number of captures after which a browser process is replaced.',
      default: 500,
    }),
  },
  'IP information': {
    ipinfo: toggle({ description: 'Look up the IP address that each target answered from.' }),
    ipinfoUrl: z.url({ protocol: /^https?$/ }).register(table, {
      kind: 'text',
      description: 'Service for IP lookups: ipapi.co or one with the same interface.',
      placeholder: 'url',
      takes: 'an http:// or https:// URL',
      default: 'https://ipapi.co/',
      secret: 'url',
    }),
    ipinfoKey: z
      .string()
      .regex(/^[\x21-\x7e]+$/)
      .nullable()
      .register(table, {
        kind: 'text',
        description: 'Key of the service for IP lookups.',
        placeholder: 'secret',
        takes: 'printable ASCII characters without spaces',
        default: null,
        secret: 'whole',
      }),
    ipinfoKeyFile: secretFile('--ipinfo-key', 'the key'),
    ipinfoRate: z.number().min(0.01).max(1000).register(table, {
      kind: 'number',
      description: 'Maximum number of IP lookups per second.',
      placeholder: 'n',
      takes: 'a number from 0.01 to 1000 (requests a second)',
      default: 5,
    }),
  },
  Cluster: {
    natsUrl: list(z.string().regex(/^(nats|tls):\/\/[^\s,/]+\/?$/), {
      description:
        'NATS server with JetStream. Makes this process part of a cluster; needs --mongo-url. Repeatable: the servers of one NATS cluster.',
      placeholder: 'url',
      takes: 'a nats:// or tls:// URL with a host, and optionally a port, user and password, or token',
      secret: 'url',
      repeatable: true,
    }),
    natsUrlFile: secretFile('--nats-url', 'one URL on each line'),
    natsCreds: file({ description: 'Credentials of a NATS user: a .creds file with a JWT and a key.' }),
    natsTlsCa: file({
      description: "Certificates, in PEM, of the authorities that sign the NATS servers' certificates.",
      defaultText: "Node's",
    }),
    natsTlsCert: file({ description: 'Client certificate for NATS, in PEM; needs --nats-tls-key.' }),
    natsTlsKey: file({ description: 'Key of the client certificate for NATS, in PEM.' }),
    clusterName: z
      .string()
      .regex(/^[\w-]{1,64}$/)
      .register(table, {
        kind: 'text',
        description:
          'Name of the cluster. Clusters with different names share a NATS server without seeing each other.',
        placeholder: 'name',
        takes: '1 to 64 letters, digits, _ or -',
        default: 'capstan',
      }),
    role: choice(['all', 'api', 'worker'], {
      description:
        '`api` answers clients and starts no browser; `worker` captures for the api nodes and answers only probes and figures; `all` does both.',
      placeholder: 'role',
      default: 'all',
    }),
    clusterMaxConcurrent: integer(CLUSTER_BOUNDS.maxConcurrent.min, CLUSTER_BOUNDS.maxConcurrent.max, 'captures', {
      description:
        'Maximum number of captures at the same time on all workers together; --max-concurrent then limits this worker, and --max-queue the captures that wait in the whole cluster. Used when the cluster is created; change it later with PATCH /limits.',
      default: 1000,
    }),
    maxWaitMs: integer(1, 3_600_000, 'milliseconds', {
      description: 'Time after which a queued capture that no worker has started is `timed_out`.',
      default: 120_000,
    }),
  },
  Running: {
    logLevel: choice(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'], {
      description: 'Lowest level that is logged.',
      placeholder: 'level',
      default: 'info',
    }),
    logFile: file({
      description:
        'A file (not a pipe) to append the log to, in place of standard error. SIGHUP opens it anew, so that it can be rotated by renaming it.',
      defaultText: 'standard error',
    }),
    otlpUrl: z
      .url({ protocol: /^https?$/ })
      .nullable()
      .register(table, {
        kind: 'text',
        description:
          'Collector that traces are sent to, by OTLP over HTTP; `/v1/traces` is appended to a URL without a path.',
        placeholder: 'url',
        takes: 'an http:// or https:// URL',
        default: null,
        secret: 'url',
      }),
    drainDelayMs: integer(0, 600_000, 'milliseconds', {
      description:
        'Time on a stop in which everything is still served, while /readyz* already answer 503: load balancers need it to send clients elsewhere.',
      default: 0,
    }),
    graceMs: integer(0, 600_000, 'milliseconds', {
      description: 'Time that captures in progress have to finish when the service is stopped.',
      default: 10_000,
    }),
  },
};

export const configSchema = z.strictObject({
  ...GROUPS.Listening,
  ...GROUPS.Storing,
  ...GROUPS.Limits,
  ...GROUPS.Targets,
  ...GROUPS.Receivers,
  ...GROUPS.Browser,
  ...GROUPS['IP information'],
  ...GROUPS.Cluster,
  ...GROUPS.Running,
});

/** A scheme, a host and perhaps a port, as browsers write them. */
function isOrigin(text: string): boolean {
  const url = URL.parse(text);
  return url !== null && /^https?:$/.test(url.protocol) && url.origin === text;
}

/** The effective configuration, with a value for every option. Null and the empty list mean "not set". */
export type Config = Immutable<z.output<typeof configSchema>>;

export interface Option extends OptionFacts {
  readonly group: string;
  /** Key in the configuration file. */
  readonly name: string;
  /** Flag with its dashes. */
  readonly flag: string;
  /** Name of the environment variable. */
  readonly variable: string;
}

/** The table, in the order of the documentation. */
export const OPTIONS: readonly Option[] = Object.entries(GROUPS).flatMap(([group, schemas]) =>
  Object.entries<z.ZodType>(schemas).flatMap(([name, schema]) => {
    const facts = table.get(schema);
    return facts === undefined ? [] : [{ name, group, flag: flagOf(name), variable: variableOf(name), ...facts }];
  }),
);

export function flagOf(name: string): string {
  return `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}

export function variableOf(name: string): string {
  return `CAPSTAN_${name.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase()}`;
}
