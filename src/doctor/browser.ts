import { BrowserPool } from '../actors/browser-pool.ts';
import { MEMORY_BOUNDS } from '../actors/checks/memory-watch.ts';
import { missingScripts, type Script } from '../actors/checks/missing-scripts.ts';
import { visitorDefaults } from '../actors/checks/visitor-defaults.ts';
import { Launcher } from '../actors/launching/launcher.ts';
import { DEFAULT_LOCALE, DEFAULT_TIMEZONE } from '../capture/options/default-visitor.ts';
import type { BrowsersConfig } from '../config/slices.ts';
import { type Finding, findingsOf } from './finding.ts';

const browser = findingsOf('browser');
const sandbox = findingsOf('sandbox');
const fonts = findingsOf('fonts');
const language = findingsOf('language');

const ALLOW_NAMESPACES =
  'allow unprivileged user namespaces (sysctl kernel.unprivileged_userns_clone=1, on Ubuntu kernel.apparmor_restrict_unprivileged_userns=0; in Docker --security-opt seccomp=container/seccomp.json, see Containers in docs/operations.md)';

const ALLOW_NOBODY =
  'let user 65534 (nobody) execute the browser and enter the temporary directory, or run the service as a user other than root';

/**
 * Starts a browser as the service would, and reports its path, version, sandbox, the scripts it has fonts for, and the
 * visitor's language.
 */
export async function examineBrowser(config: BrowsersConfig): Promise<readonly Finding[]> {
  const warnings = { sandbox: [] as string[], priority: [] as string[] };
  const launcher = new Launcher(config, (text, about) => warnings[about].push(text));
  const pool = new BrowserPool({
    launcher,
    retireAfter: config.retireAfter,
    memory: MEMORY_BOUNDS,
    browsers: 1,
    warn: () => undefined,
  });
  try {
    await pool.warmUp();
    const executable = await launcher.findExecutable();
    if ('missing' in executable) return browser.failure('none was found', executable.detail ?? executable.missing);
    if (pool.unavailable !== null) {
      return browser.failure(pool.unavailable.detail, `run ${executable.path} --version, and see what it lacks`);
    }
    const host = await pool.host();
    const { product } = await host.connection.root.send('Browser.getVersion');
    const missing = await missingScripts(host);
    return [
      ...browser.ok(`${product.replace(/^HeadlessChrome\//, 'headless Chromium ')}, ${executable.path}`),
      ...sandboxFindings(config.sandbox, launcher, warnings.sandbox),
      ...warnings.priority.flatMap((text) =>
        browser.warning(text, 'install util-linux (chrt), allow sched_setscheduler(2), or use --browser-priority low'),
      ),
      ...fontFindings(missing),
      ...languageFindings(await visitorDefaults(host)),
    ];
  } catch (error) {
    return browser.failure(`it ended: ${String(error)}`, 'start it by hand, and see what it lacks');
  } finally {
    await pool.close();
  }
}

function sandboxFindings(
  mode: BrowsersConfig['sandbox'],
  { confined }: Launcher,
  warnings: readonly string[],
): readonly Finding[] {
  const user = confined.user === undefined ? '' : `, as user ${confined.user.uid}`;
  if (confined.sandbox) return sandbox.ok(`on${user}`);
  if (mode === 'off') return sandbox.warning(`off${user}, because of --sandbox off`, 'use --sandbox auto or on');
  const isRoot = process.getuid?.() === 0 && confined.user === undefined;
  return sandbox.warning(`off${user}: ${warnings.join('; ')}`, isRoot ? ALLOW_NOBODY : ALLOW_NAMESPACES);
}

function fontFindings(missing: readonly Script[]): readonly Finding[] {
  if (missing.length === 0) return fonts.ok('one for every common script');
  const packages = [...new Set(missing.map(({ debianPackage }) => debianPackage))];
  return fonts.warning(
    `none for ${missing.map(({ name }) => name).join(', ')}: drawn as boxes`,
    `apt-get install ${packages.join(' ')}, and start the service again`,
  );
}

function languageFindings(seen: Awaited<ReturnType<typeof visitorDefaults>>): readonly Finding[] {
  const found = `pages see ${seen.language}, formats of ${seen.formats}, and time zone ${seen.timeZone}`;
  const isDefault =
    seen.language === DEFAULT_LOCALE && seen.formats === DEFAULT_LOCALE && seen.timeZone === DEFAULT_TIMEZONE;
  return isDefault
    ? language.ok(found)
    : language.warning(
        found,
        `set locale and timezone in requests: their defaults, ${DEFAULT_LOCALE} and ${DEFAULT_TIMEZONE}, have no effect`,
      );
}
