import { spawnSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { writeCase } from '../../packages/kube/test/kubeconfig-case-files.ts';
import { KUBECONFIG_CASES, type KubeconfigSummary } from '../../packages/kube/test/kubeconfig-cases.ts';
import { hasKubectl } from './kubectl-program.ts';

interface Named {
  readonly name: string;
  readonly context?: { readonly cluster: string; readonly user: string };
  readonly cluster?: { readonly server?: string; readonly 'certificate-authority-data'?: string };
  readonly user?: { readonly token?: string; readonly 'client-certificate-data'?: string };
}
type View = Readonly<Record<'contexts' | 'clusters' | 'users', readonly Named[] | null>> & {
  readonly 'current-context': string;
};

function summaryOf(view: View): KubeconfigSummary {
  const decoded = (data: string | undefined) => data && Buffer.from(data, 'base64').toString('utf8');
  const words = (...all: (string | undefined)[]) => all.filter(Boolean).join(' ');
  const byName = (entries: readonly Named[] | null, say: (entry: Named) => string) =>
    Object.fromEntries((entries ?? []).map((entry) => [entry.name, say(entry)]));
  return {
    current: view['current-context'],
    contexts: byName(view.contexts, ({ context }) => words(context?.cluster, context?.user)),
    clusters: byName(view.clusters, ({ cluster }) =>
      words(cluster?.server, decoded(cluster?.['certificate-authority-data'])),
    ),
    users: byName(view.users, ({ user }) => words(user?.token, decoded(user?.['client-certificate-data']))),
  };
}

describe.skipIf(!hasKubectl())('kubectl still gives the recorded answers', () => {
  it.each(KUBECONFIG_CASES)('$name', (given) => {
    const { folder, env } = writeCase(given);
    const args = ['config', 'view', '--raw', '--flatten', '--output=json'];
    const { status, stdout } = spawnSync('kubectl', args, {
      env: { PATH: process.env['PATH'], ...env },
      cwd: folder,
      encoding: 'utf8',
    });
    rmSync(folder, { recursive: true, force: true });
    expect(status === 0 ? summaryOf(JSON.parse(stdout) as View) : 'refused').toEqual(given.want);
  });
});
