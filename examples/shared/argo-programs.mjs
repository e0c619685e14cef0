// Argo CD's own programs, where this machine has them.
import { homedir } from 'node:os';
import { join } from 'node:path';
import { firstText } from './example-run.mjs';

/** Tests have the programs here; other users of the examples on the path. */
const PROGRAMS = process.env['BERTH_PEERS'] ?? join(homedir(), '.cache/berth-peers/bin');

/** Why `berth argocd run` cannot start Argo CD: the message of its error. Undefined: it can. */
export async function whyNoArgo(run) {
  try {
    await run.berthOutput('argocd', 'run', '--dry-run', '--programs', PROGRAMS);
  } catch (error) {
    return error.message.split('error: ')[1].split('\n')[0];
  }
}

/** Runs Argo CD for the cluster of a kubeconfig, which knows its clusters already. @param name of its folder */
export async function startArgo(run, name, kubeconfig) {
  const flags = ['--kubeconfig', kubeconfig, '--data', run.folder(`argocd-${name}`), '--no-clusters'];
  await firstText(run.berth('argocd', 'run', '--programs', PROGRAMS, ...flags), 'Ctrl-C ends it');
}
