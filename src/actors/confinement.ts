import { NOBODY_UID } from '../egress/egress.ts';

/** A user of the system, by numbers. */
export interface SystemUser {
  readonly uid: number;
  readonly gid: number;
}

/** What a browser process may do. */
export interface Confined {
  /** Whether Chromium's own sandbox is on. */
  readonly sandbox: boolean;
  /** Whom the browser runs as; undefined: whom the service runs as. */
  readonly user: SystemUser | undefined;
}

const NOBODY: SystemUser = { uid: NOBODY_UID, gid: NOBODY_UID };

/** How Chromium says that it cannot have namespaces of its own. */
const NO_SANDBOX = /sandbox|namespace/i;
/** What every start may say besides: where its lines come from, and a warning of a GPU process. */
const NOT_FATAL = /\[[^\]]*:(?:ERROR|WARNING|INFO):[^\]]*\]|InitializeSandbox\(\) called with multiple threads/g;
/** How the system says that one user cannot become another, or that the other cannot read the browser. 126: sh(1). */
const NO_OTHER_USER = /EPERM|EACCES|EINVAL|permission denied|exit code 126/i;

/**
 * How far browsers are shut in: one answer for all of them. Chromium refuses its sandbox to root; so where the service
 * is root, browsers are not, which leaves who breaks out of one without root's rights besides.
 */
export class Confinement {
  readonly #mode: 'auto' | 'on' | 'off';
  readonly #warn: (text: string) => void;
  #now: Confined;
  #works = false;

  /** `auto`: as far as it works here, and `warn` is told what does not. `on`: with the sandbox, or not at all. */
  constructor(mode: 'auto' | 'on' | 'off', warn: (text: string) => void) {
    this.#mode = mode;
    this.#warn = warn;
    this.#now = { sandbox: mode !== 'off', user: process.getuid?.() === 0 ? NOBODY : undefined };
  }

  get now(): Confined {
    return this.#now;
  }

  /** A browser that was confined as `tried` was launched: what later ones fail for is something else. */
  works(tried: Confined): void {
    if (tried === this.#now) this.#works = true;
  }

  /** A browser that was confined as `tried` ended at its start, for `reason`. Returns whether to try again, with less. */
  loosen(tried: Confined, reason: string): boolean {
    // Another launch, under way meanwhile, has found that out.
    if (tried !== this.#now) return true;
    if (this.#works) return false;
    const { sandbox, user } = tried;
    if (sandbox && NO_SANDBOX.test(reason.replaceAll(NOT_FATAL, ''))) {
      if (this.#mode === 'on') return false;
      this.#now = { sandbox: false, user };
      this.#warn(`Chromium's sandbox does not work here, going on without it: ${reason}`);
      return true;
    }
    if (user !== undefined && NO_OTHER_USER.test(reason)) {
      if (this.#mode === 'on') return false;
      this.#now = { sandbox: false, user: undefined };
      this.#warn(`Chromium runs as root and without its sandbox, since it cannot run as another user: ${reason}`);
      return true;
    }
    return false;
  }
}
