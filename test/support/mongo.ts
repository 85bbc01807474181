import { access, constants, rm } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { MongoClient } from 'mongodb';
import { MongoMemoryServer } from 'mongodb-memory-server';
import { makeDirectory } from './temporary-directory.ts';

/** Time limit for a start, long enough for a busy machine and for a server that runs through a compatibility layer. */
const LAUNCH_MS = 60_000;

const MAX_LAUNCHES = 5;

/** Interval of liveness probes, and the number of probes in a row without an answer after which a server is ended. */
const PROBE_MS = 10_000;
const MAX_SILENT_PROBES = 3;

/** How the launcher reports MongoDB's exit code for a port in use. */
const PORT_TAKEN = 'code "48"';

// Else the named server is started once more before each start, to ask for its version.
process.env.MONGOMS_SYSTEM_BINARY_VERSION_CHECK ??= 'false';

/** A real MongoDB server. */
export interface MongoServer {
  /** A suite appends the name of its database. */
  readonly url: string;
  /** Stops the server; its data stays. */
  stop(): Promise<void>;
  /** Starts it again on the same port with the same data. */
  start(): Promise<void>;
  /** Stops it and removes its data. */
  remove(): Promise<void>;
}

/**
 * Returns the reason why MongoDB cannot run here, or undefined when it can: MONGOMS_SYSTEM_BINARY names the server.
 * With CI=true a missing server is a failure, not a reason to skip.
 */
export async function whyNoMongo(): Promise<string | undefined> {
  const binary = process.env.MONGOMS_SYSTEM_BINARY;
  const reason =
    binary === undefined
      ? 'MONGOMS_SYSTEM_BINARY names no MongoDB server'
      : await access(binary, constants.X_OK).then(
          () => undefined,
          () => `MONGOMS_SYSTEM_BINARY is ${binary}, which cannot be run`,
        );
  if (reason !== undefined && process.env.CI === 'true') throw new Error(`no MongoDB for the tests: ${reason}`);
  return reason;
}

/**
 * Removes all documents of a database that a test has used, which costs less than another database with its indexes.
 */
export async function emptyDatabase(url: string): Promise<void> {
  const client = new MongoClient(url);
  try {
    for (const collection of await client.db().collections()) {
      if (collection.collectionName !== 'schema') await collection.deleteMany({});
    }
  } finally {
    await client.close();
  }
}

/** Returns false when the server does not answer any more, as one did under a compatibility layer. */
async function answers(url: string): Promise<boolean> {
  const client = new MongoClient(url, { serverSelectionTimeoutMS: PROBE_MS, socketTimeoutMS: 2 * PROBE_MS });
  try {
    await client.db().command({ ping: 1 });
    return true;
  } catch {
    return false;
  } finally {
    await client.close();
  }
}

/**
 * Starts a server, for a suite that stops it or looks at all of its databases. A server that crashes, or that is ended
 * because it does not answer, is started again, as an operator's supervisor would do, and standard error says so.
 */
export async function startMongo(): Promise<MongoServer> {
  const dbPath = await makeDirectory();
  let running: MongoMemoryServer | undefined;
  let restarting: Promise<void> | undefined;

  // A new instance and not running.start(): its launcher would take the old process's late close event for the new
  // one's.
  const start = async (port?: number): Promise<MongoMemoryServer> => {
    const server = await launch(dbPath, port);
    running = server;
    const ended = new AbortController();
    void endWhenSilent(server, ended.signal);
    // Not the launcher's event, which fires only after all processes sharing the output ended.
    server.instanceInfo?.instance.mongodProcess?.once('exit', (code, signal) => {
      ended.abort();
      if (running !== server) return;
      process.stderr.write(`MongoDB ended by itself (${signal ?? code}) and is started again\n`);
      restarting = startAgain().catch((error) => {
        process.stderr.write(`MongoDB was not started again: ${error}\n`);
      });
    });
    return server;
  };
  const first = await start();
  const startAgain = async () => void (await start(first.instanceInfo?.port));
  const stop = async (): Promise<void> => {
    await restarting;
    const stopped = running;
    running = undefined;
    await stopped?.stop({ doCleanup: false });
  };

  return {
    url: first.getUri(),
    stop,
    start: startAgain,
    remove: async () => {
      await stop();
      await rm(dbPath, { recursive: true, force: true });
    },
  };
}

/** Kills the server after 3 failed pings; stops when `ended` aborts. Its data is journaled. */
async function endWhenSilent(server: MongoMemoryServer, ended: AbortSignal): Promise<void> {
  for (let silent = 0; silent < MAX_SILENT_PROBES; ) {
    await delay(PROBE_MS, undefined, { ref: false });
    if (ended.aborted) return;
    silent = (await answers(server.getUri())) ? 0 : silent + 1;
  }
  if (ended.aborted) return;
  process.stderr.write(`MongoDB has not answered ${MAX_SILENT_PROBES} probes and is ended\n`);
  server.instanceInfo?.instance.mongodProcess?.kill('SIGKILL');
}

/**
 * Without `port`, one that is free now; when another program takes it before the server does, the server ends and is
 * started with another one.
 */
async function launch(dbPath: string, port: number | undefined): Promise<MongoMemoryServer> {
  for (let attempt = 1; ; attempt++) {
    try {
      const server = new MongoMemoryServer({
        // No version check: the named binary is used as it is.
        binary: { checkMD5: false },
        instance: {
          ip: '127.0.0.1',
          storageEngine: 'wiredTiger',
          launchTimeout: LAUNCH_MS,
          dbPath,
          ...(port !== undefined && { port }),
        },
      });
      // Else the launcher avoids a port that it used less than 10 s ago.
      await server.start(port !== undefined);
      return server;
    } catch (error) {
      if (attempt === MAX_LAUNCHES || !String(error).includes(PORT_TAKEN)) throw error;
    }
  }
}
