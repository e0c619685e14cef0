import type { Command } from 'commander';

/** What Berth does for Argo CD beside the plugin endpoint. */
export interface ArgocdFlags {
  readonly argocdPull: boolean;
}

export function addArgocdFlags(command: Command): Command {
  return command.option(
    '--argocd-pull',
    'bring Applications of Argo CD to the clusters that pull them, and their status back (docs/argocd.md)',
    false,
  );
}
