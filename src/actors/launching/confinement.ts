import { NOBODY_UID } from '../../egress/egress.ts';

/** A system user, by numeric ids. */
export interface SystemUser {
  readonly uid: number;
  readonly gid: number;
}

/** The privileges of a browser process. */
export interface Confined {
  /** Whether Chromium's own sandbox is on. */
  readonly sandbox: boolean;
  /** User to run the browser as; undefined runs it as the service's own. */
  readonly user: SystemUser | undefined;
}

const NOBODY: SystemUser = { uid: NOBODY_UID, gid: NOBODY_UID };

/** Chromium's messages when it cannot create namespaces for its sandbox. */
const NO_SANDBOX = /sandbox|namespace/i;
/**
 * Output that every start prints and that is unrelated to sandbox failures: prefixes of log lines, and a warning of the
 * GPU process.
 */
const NOT_FATAL = /\[[^\]]*:(?:ERROR|WARNING|INFO):[^\]]*\]|InitializeSandbox\(\) called with multiple threads/g;
/**
 * Messages of the system when the user cannot be changed, or when the other user cannot read the browser. 126 is the
 * exit code of sh(1).
 */
const NO_OTHER_USER = /EPERM|EACCES|EINVAL|permission denied|exit code 126/i;

/**
 * Decides the privileges of all browsers. Chromium refuses its sandbox to root; so browsers of a root service run as
 * another user, and code that escapes the sandbox still has no root privileges.
 */
export class Confinement {
  readonly #mode: 'auto' | 'on' | 'off';
  readonly #warn: (text: string) => void;
  #now: Confined;
  #works = false;

  /**
   * `auto` confines as far as the system allows, and reports to `warn` what it does not allow; `on` requires the
   * sandbox.
   */
  constructor(mode: 'auto' | 'on' | 'off', warn: (text: string) => void) {
    this.#mode = mode;
    this.#warn = warn;
    this.#now = { sandbox: mode !== 'off', user: process.getuid?.() === 0 ? NOBODY : undefined };
  }

  get now(): Confined {
    return this.#now;
  }

  /** Records that a browser confined as `tried` was launched: later failures have other causes. */
  works(tried: Confined): void {
    if (tried === this.#now) this.#works = true;
  }

  /**
   * Records that a browser confined as `tried` ended at its start, for `reason`. Returns whether to retry with less
   * confinement.
   */
  loosen(tried: Confined, reason: string): boolean {
    // A concurrent launch has already loosened the confinement.
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
