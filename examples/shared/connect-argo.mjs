// Connects Argo CD on a hub with Berth, as docs/argocd.md says.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort, say, until } from './example-run.mjs';

/** Kinds of Argo CD that the fleet repositories of the examples hold. */
const KINDS = ['argoproj.io/ApplicationSet', 'apps.open-cluster-management.io/GitOpsCluster'];

/**
 * Runs `berth argocd install`, and then `berth serve` with the token that it made.
 * @param repository with the fleet
 * @param more flags of `berth serve`
 * @returns the data directory of `berth serve`
 */
export async function connectArgo(run, { kubeconfig, repository, more }) {
  const address = `127.0.0.1:${await freePort()}`;
  const url = `http://${address}`;
  say(`$ berth argocd install --url ${url}`);
  const printed = await run.berthOutput('argocd', 'install', '--url', url, '--kubeconfig', kubeconfig);
  say(printed.trimEnd());
  const tokens = join(run.dir, 'tokens.yaml');
  writeFileSync(tokens, printed.slice(printed.indexOf('tokens:')), { mode: 0o600 });
  const data = join(run.dir, 'serve');
  const flags = ['--argocd-refresh', ...more];
  say(`\n$ berth serve --repo fleet --embedded --listen ${address} --token-file tokens.yaml ${flags.join(' ')}`);
  run.berth(
    'serve',
    ...['--repo', repository, '--embedded', '--poll', '1s', '--kubeconfig', kubeconfig, '--data', data],
    ...['--listen', address, '--token-file', tokens, ...flags],
    ...KINDS.flatMap((kind) => ['--kind', kind]),
  );
  await until('starting Berth', () => fetch(`${url}/readyz`), ({ ok }) => ok);
  return data;
}
