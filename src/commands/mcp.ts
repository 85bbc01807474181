import { once } from 'node:events';
import { join } from 'node:path';
import { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio';
import type { Command } from 'commander';
import { databaseOf } from '../capture/artifacts/artifacts.ts';
import { addConfigFlags } from '../config/flags.ts';
import type { Config } from '../config/mod.ts';
import { type Api, apiAt } from '../mcp/api.ts';
import { createMcpServer } from '../mcp/mcp-server.ts';
import { messageLines } from '../mcp/message-lines.ts';
import { withOwnService } from './own-service.ts';
import { processConfig, serverUrl } from './process-config.ts';

export function registerMcpCommand(program: Command): void {
  const command = program
    .command('mcp')
    .description(
      'Serve the Model Context Protocol over standard input and output, until the input ends: with a service of its own, or for the one of --server.',
    )
    .option('--server <url>', 'service to use, such as http://127.0.0.1:8080; --api-key is sent to it');
  addConfigFlags(command).action(async (flags: Readonly<Record<string, unknown>>) => {
    const { server, ...own } = flags;
    const url = server === undefined ? undefined : serverUrl(String(server));
    const config = processConfig({ ...own, host: '127.0.0.1', port: '0' });
    if (url !== undefined) return serveUntilEnd(apiAt(url, config.apiKey[0]));
    await withOwnService(withDatabase(config), (own, signal) =>
      serveUntilEnd(apiAt(own.url, own.apiKey, null), signal),
    );
  });
}

/** Serves until standard input ends. */
async function serveUntilEnd(api: Api, signal?: AbortSignal): Promise<void> {
  const lines = messageLines((error) => void process.stdout.write(`${JSON.stringify(error)}\n`));
  const transport = new StdioServerTransport(process.stdin.pipe(lines), process.stdout);
  const serving = serveStdio(() => createMcpServer(api, () => process.stdout.writableLength === 0), { transport });
  await Promise.race([
    once(process.stdin, 'close'),
    once(process.stdin, 'end'),
    ...(signal ? [once(signal, 'abort')] : []),
  ]);
  await serving.close();
}

/** Without a database nothing could be found again: it is beside the files, as with `npm start`. */
function withDatabase(config: Config): Config {
  return databaseOf(config) === undefined ? { ...config, dbPath: join(config.dataDir, 'results.db') } : config;
}
