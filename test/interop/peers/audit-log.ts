import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

interface AuditEvent {
  readonly verb: string;
  readonly user: { readonly username: string };
  readonly impersonatedUser?: { readonly username: string };
  readonly objectRef?: {
    readonly resource: string;
    readonly subresource?: string;
    readonly apiGroup?: string;
  };
  readonly requestURI: string;
  readonly responseStatus?: { readonly code: number };
}

/** The audit log of a real kube-apiserver: what each user asked for, and what it was refused. */
export class AuditLog {
  /** Of kube-apiserver. */
  readonly flags: readonly string[];
  readonly #file: string;

  /** @param dir for the policy and the log */
  constructor(dir: string) {
    this.#file = join(dir, 'audit.log');
    const policy = join(dir, 'audit-policy.yaml');
    writeFileSync(
      policy,
      JSON.stringify({
        apiVersion: 'audit.k8s.io/v1',
        kind: 'Policy',
        omitStages: ['RequestReceived'],
        rules: [{ level: 'Metadata' }],
      }),
    );
    this.flags = [
      `--audit-policy-file=${policy}`,
      `--audit-log-path=${this.#file}`,
      '--audit-log-mode=blocking-strict',
    ];
  }

  /** What the user asked for: `verb resource[/subresource] group`. An apply that made its object took `create`, too. */
  rights(user: string): ReadonlySet<string> {
    const used = new Set<string>();
    for (const event of this.#events(user)) {
      if (event.objectRef === undefined) continue;
      const { resource, subresource, apiGroup = '' } = event.objectRef;
      const what = `${resource}${subresource === undefined ? '' : `/${subresource}`} ${apiGroup}`.trim();
      used.add(`${event.verb} ${what}`);
      if (event.verb === 'patch' && event.responseStatus?.code === 201) used.add(`create ${what}`);
      if (event.impersonatedUser !== undefined) used.add('impersonate serviceaccounts');
    }
    return used;
  }

  /** The requests of the user that were answered with 403. */
  refused(user: string): readonly string[] {
    return this.#events(user)
      .filter(({ responseStatus }) => responseStatus?.code === 403)
      .map(({ verb, requestURI }) => `${verb} ${requestURI}`);
  }

  #events(user: string): readonly AuditEvent[] {
    if (!existsSync(this.#file)) return [];
    const lines = readFileSync(this.#file, 'utf8').split('\n');
    // The last line may be written at this moment.
    return lines
      .slice(0, -1)
      .map((line) => JSON.parse(line) as AuditEvent)
      .filter((event) => event.user.username === user);
  }
}
