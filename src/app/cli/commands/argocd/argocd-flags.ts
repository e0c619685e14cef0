import type { Command } from 'commander';
import { verbCommand } from '../verb-command.ts';
import { addHubFlags, type HubFlags } from '../../flags/hub-flags.ts';

/** Flags of the commands that read an Argo CD on the hub. */
export interface ArgocdFlags extends HubFlags {
  readonly argocdNamespace: string;
}

/** `berth argocd …` */
export function argocdCommand(program: Command): Command {
  return verbCommand(program, 'argocd', 'connect Argo CD with Berth, check it, and render ApplicationSets');
}

export function addArgocdFlags(command: Command): Command {
  return addHubFlags(command.option('--argocd-namespace <name>', 'namespace of Argo CD', 'argocd'));
}
