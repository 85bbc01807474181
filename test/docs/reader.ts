import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { type Site, startSite } from '../fixtures/site.ts';
import { BRISBANE, json, Upstream } from '../ipinfo/upstream.ts';
import { makeDirectory } from '../support/temporary-directory.ts';

/** Address at which the documentation's examples expect the service. */
const DOCUMENTED_SERVICE = 'http://127.0.0.1:8080';
/** Time limit for a block, in milliseconds. */
const BLOCK_MS = 580_000;

export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/**
 * Follows pages as a reader would: runs their examples in order, each page in a directory of its own, with one service.
 * Contacts only loopback: a fixture site replaces example.com, and a local server replaces ipapi.co.
 */
export class Reader implements AsyncDisposable {
  #dir = '';
  readonly #site: Site;
  readonly #upstream: Upstream;
  #service: { readonly child: ChildProcess; readonly url: string } | undefined;

  private constructor(site: Site, upstream: Upstream) {
    this.#site = site;
    this.#upstream = upstream;
  }

  static async start(): Promise<Reader> {
    const upstream = await new Upstream().listen();
    upstream.answer = (response, request, nth) => {
      const body = request.url?.endsWith('/city/') ? 'Brisbane' : BRISBANE;
      json(200, request.url?.includes('quota') ? { available: 1000 } : body)(response, request, nth);
    };
    return new Reader(await startSite(), upstream);
  }

  /** Runs what follows in a new directory. */
  async enter(prepare: (dir: string) => Promise<void>): Promise<void> {
    this.#dir = await makeDirectory();
    await prepare(this.#dir);
  }

  get dir(): string {
    return this.#dir;
  }

  /** Runs a block that ends by itself. */
  async run(code: string): Promise<Ended> {
    if (code.includes(DOCUMENTED_SERVICE)) await this.#needService();
    // The command that npx finds in a project, without a start of npm: blocks that start a service show that npx finds
    // it.
    const direct = code.replaceAll('npx capstan', 'node_modules/.bin/capstan');
    return ended(this.#spawn('bash', ['-euo', 'pipefail', '-c', this.#here(direct)]));
  }

  /** Runs a TypeScript example that ends by itself. */
  async runProgram(name: string, code: string): Promise<Ended> {
    if (code.includes(DOCUMENTED_SERVICE)) await this.#needService();
    return ended(await this.#startProgram(name, code, {}));
  }

  /** Starts a TypeScript example that listens on `PORT`, waits for the line that it prints, and calls `use`. */
  async serveProgram(
    name: string,
    code: string,
    env: Readonly<Record<string, string>>,
    use: () => Promise<void>,
  ): Promise<void> {
    const child = await this.#startProgram(name, code, env);
    child.stderr?.resume();
    await firstMatch(child, /^(.+)$/m);
    try {
      await use();
    } finally {
      await end(child, 'SIGTERM');
    }
  }

  async #startProgram(name: string, code: string, env: Readonly<Record<string, string>>): Promise<ChildProcess> {
    await writeFile(join(this.#dir, name), this.#here(code));
    return this.#spawn(process.execPath, ['--no-warnings', name], env);
  }

  /** Runs a block that starts the service, which runs until the next such block or the end of the page. */
  async serve(code: string): Promise<void> {
    await this.#stopService();
    const child = this.#spawn('bash', ['-euo', 'pipefail', '-c', this.#here(code)]);
    const failed = ended(child).then(({ code: exit, stdout, stderr }) => {
      throw new Error(`exit code ${exit} before it listened\n${stdout}\n${stderr}`);
    });
    const url = await Promise.race([firstMatch(child, /capstan listening on (\S+)/), failed]);
    failed.catch(() => undefined);
    this.#service = { child, url: url.replace('0.0.0.0', '127.0.0.1') };
  }

  /** Runs a block that follows events until it has printed an event of a capture. */
  async follow(code: string): Promise<void> {
    await this.#needService();
    const child = this.#spawn('bash', ['-euo', 'pipefail', '-c', this.#here(code)]);
    child.stderr?.resume();
    let stopped = false;
    const event = firstMatch(child, /^event: (capture\.\S+)/m).finally(() => {
      stopped = true;
    });
    // Captures repeatedly, because the block may begin to listen after the first capture.
    const captures = (async () => {
      while (!stopped) await this.run(`curl --json '{"url": "https://example.com"}' ${DOCUMENTED_SERVICE}/screenshot`);
    })();
    await Promise.all([event, captures]);
    await end(child, 'SIGTERM');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#stopService();
    await this.#site.close();
    await this.#upstream[Symbol.asyncDispose]();
  }

  async #needService(): Promise<void> {
    if (this.#service === undefined) await this.serve('npx capstan serve --db-path results.db');
  }

  async #stopService(): Promise<void> {
    if (this.#service !== undefined) await end(this.#service.child, 'SIGINT');
    this.#service = undefined;
  }

  /** Replaces the documented addresses in the code with this reader's. */
  #here(code: string): string {
    return (
      code
        // Everything is installed: this checks that package.json and its lock file agree.
        .replaceAll(/^npm ci$/gm, 'npm ci --dry-run --ignore-scripts')
        .replaceAll(DOCUMENTED_SERVICE, this.#service?.url ?? DOCUMENTED_SERVICE)
        .replaceAll('https://example.com', this.#site.origin)
        .replaceAll(/host(?:=|: '| )example\.com/g, (text) => text.replace('example.com', this.#site.host))
        .replaceAll('createService({', `createService({ allowTargets: ['${this.#site.host}'],`)
    );
  }

  #spawn(command: string, args: readonly string[], env: Readonly<Record<string, string>> = {}): ChildProcess {
    const inherited = Object.entries(process.env).filter(([name]) => !/^(CAPSTAN|npm)_/i.test(name));
    return spawn(command, args, {
      cwd: this.#dir,
      // Starts a process group, so that the process and its children can be ended together, as Ctrl-C does.
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: {
        ...Object.fromEntries(inherited),
        PATH: `${dirname(process.execPath)}${delimiter}${process.env.PATH ?? ''}`,
        TMPDIR: this.#dir,
        // Makes curl fail on an HTTP error status.
        CURL_HOME: join(import.meta.dirname, 'curl'),
        npm_config_prefer_offline: 'true',
        npm_config_audit: 'false',
        npm_config_yes: 'false',
        npm_config_update_notifier: 'false',
        CAPSTAN_PORT: '0',
        CAPSTAN_ALLOW_TARGETS: this.#site.host,
        CAPSTAN_ALLOW_WEBHOOKS: this.#site.host,
        CAPSTAN_IPINFO_URL: this.#upstream.url,
        CAPSTAN_LOG_LEVEL: 'warn',
        ...env,
      },
    });
  }
}

async function ended(child: ChildProcess): Promise<Ended> {
  if (child.stdout === null || child.stderr === null) throw new Error('the process has no output');
  const timer = setTimeout(() => signalGroup(child, 'SIGKILL'), BLOCK_MS);
  const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  clearTimeout(timer);
  return { code: typeof code === 'number' ? code : null, stdout, stderr };
}

/**
 * Resolves with the first group of the first match in a process's output. Rejects when the process ends without one.
 */
function firstMatch(child: ChildProcess, pattern: RegExp): Promise<string> {
  return new Promise((resolve, reject) => {
    let seen = '';
    child.stdout?.on('data', (chunk) => {
      seen += String(chunk);
      const [, found] = pattern.exec(seen) ?? [];
      if (found !== undefined) resolve(found);
    });
    child.once('close', () => reject(new Error(`ended without ${pattern}; it printed ${JSON.stringify(seen)}`)));
  });
}

async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const closed = once(child, 'close');
  signalGroup(child, signal);
  await closed;
}

function signalGroup(child: ChildProcess, signal: NodeJS.Signals): void {
  if (child.pid !== undefined) process.kill(-child.pid, signal);
}
