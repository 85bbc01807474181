import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { type CaptureClient, captureClient } from '../support/capture-client.ts';

/** A process with a stub in place of browsers and stores. */
export interface StubNode {
  readonly pid: number;
  /** The first line that it printed. */
  readonly said: string;
  stop(): Promise<void>;
}

/** `module`: its program, relative to this folder. */
export async function startStubNode(module: string, args: readonly string[]): Promise<StubNode> {
  const child = spawn(process.execPath, [join(import.meta.dirname, module), ...args], {
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  });
  const { pid, stdout } = child;
  if (pid === undefined || stdout === null) throw new Error('the stub has no process');
  const gone = once(child, 'exit');
  const [said] = await Promise.race([
    once(createInterface(stdout), 'line'),
    gone.then(([code]): never => {
      throw new Error(`the stub ended with ${code}`);
    }),
  ]);
  return {
    pid,
    said: String(said),
    async stop() {
      child.disconnect();
      await gone;
    },
  };
}

/** Adds a client of the address that the process printed. */
export function withClient(node: StubNode): StubNode & { readonly client: CaptureClient } {
  return { ...node, client: captureClient(node.said) };
}
