import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { lastValueFrom } from 'rxjs';
import { afterEach, describe, expect, it } from 'vitest';
import { captureRequest } from '../support/capture-request.ts';
import { type RunningApp, serve } from '../support/serve.ts';
import { NO_BROWSER, type RunningService, startService } from '../support/service.ts';

const EXAMPLE = join(import.meta.dirname, '../../examples/subscriber.ts');

describe('examples/subscriber.ts', () => {
  let running: RunningService | undefined;
  let app: RunningApp | undefined;

  afterEach(async () => {
    await app?.close();
    await running?.stop();
  });

  it('prints captures, and after a reconnect those it missed', async () => {
    running = await startService(NO_BROWSER);
    const { service } = running;
    app = await serve(service, { apiKey: ['secret'] });
    const { port } = new URL(app.baseUrl);
    await lastValueFrom(service.submit(captureRequest('https://missed.example/')));
    const child = spawn(process.execPath, [EXAMPLE, app.baseUrl, '--since', '0'], {
      env: { ...process.env, CAPSTAN_API_KEY: 'secret' },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
    const nextLine = async () => String((await lines.next()).value);
    expect(await nextLine()).toContain('https://missed.example/');
    await app.close();
    await lastValueFrom(service.submit(captureRequest('https://between.example/')));
    app = await serve(service, { apiKey: ['secret'] }, { port: Number(port) });
    expect(await nextLine()).toContain('https://between.example/');
    child.kill();
    await once(child, 'exit');
  });
});
