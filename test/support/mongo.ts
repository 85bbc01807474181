import { access, constants, rm } from 'node:fs/promises';
import { MongoClient } from 'mongodb';
import { MongoMemoryServer } from 'mongodb-memory-server';
import { MongoInstanceEvents } from 'mongodb-memory-server-core/lib/util/MongoInstance.js';
import { makeDirectory } from './temporary-directory.ts';

/** Time limit for a start, long enough for a busy machine and for a server that runs through a compatibility layer. */
const LAUNCH_MS = 60_000;

const MAX_LAUNCHES = 5;

/** How the launcher reports MongoDB's exit code for a port in use. */
const PORT_TAKEN = 'code "48"';

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

let shared: MongoServer | undefined;
let suites = 0;

/**
 * Returns the URL of the server that the test files of this process share; it ends with the process. Each call returns
 * another beginning of the names of databases, and removes the databases of earlier suites.
 */
export async function sharedMongo(): Promise<string> {
  if (shared === undefined || !(await empties(shared))) shared = await startMongo();
  suites += 1;
  return `${shared.url}suite${suites}-`;
}

/** Returns false when the server does not answer any more, as one did under a compatibility layer. */
async function empties({ url }: MongoServer): Promise<boolean> {
  const client = new MongoClient(url, { serverSelectionTimeoutMS: 10_000, socketTimeoutMS: 20_000 });
  try {
    const { databases } = await client.db().admin().listDatabases({ nameOnly: true });
    for (const { name } of databases) if (name.startsWith('suite')) await client.db(name).dropDatabase();
    return true;
  } catch {
    return false;
  } finally {
    await client.close();
  }
}

/**
 * Starts a server, for a suite that stops it or looks at all of its databases. A server that crashes is started again,
 * as an operator's supervisor would do, and standard error says so.
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
    server.instanceInfo?.instance.once(MongoInstanceEvents.instanceClosed, (code, signal) => {
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
