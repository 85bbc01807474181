import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Driver, DriverModule } from './driver.ts';
import { startServiceProcess } from './service-process.ts';

const BENCH = join(import.meta.dirname, '..');

/** Whether the tools of `bench/peers` are installed. */
export const hasPeers = existsSync(join(BENCH, 'peers/node_modules'));
export const WITHOUT_PUPPETEER = 'without puppeteer, which `npm ci --prefix bench/peers --ignore-scripts` installs';

/** A tool that captures one page at a time, at its default settings. */
export interface Tool extends Pick<Driver, 'capture'> {
  readonly name: string;
}

/** Opens the service, and drivers of this process: their modules, as paths from `bench/`. */
export async function openTools(
  browserPath: string,
  opened: AsyncDisposableStack,
  modules: Readonly<Record<string, string>>,
): Promise<readonly Tool[]> {
  const service = opened.use(await startServiceProcess({ browserPath }));
  const capture: Tool['capture'] = async (url, fullPage) => {
    const { screenshot } = await service.capture(url, { fullPage });
    return new Uint8Array(await (await fetch(service.origin + screenshot)).arrayBuffer());
  };
  const tools: Tool[] = [{ name: 'capstan', capture }];
  for (const [name, module] of Object.entries(modules)) {
    const { open }: DriverModule = await import(join(BENCH, module));
    const driver = await open({ browserPath, concurrency: 1 });
    opened.defer(async () => void (await driver.close()));
    tools.push({ name, capture: driver.capture });
  }
  return tools;
}
