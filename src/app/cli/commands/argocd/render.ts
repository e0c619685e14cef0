import { InputError } from '@berth/runtime/errors';
import type { CliIo, ExitCode } from '../../../terminal/cli-io.ts';
import { outputOption } from '../../../terminal/output-format.ts';
import { addHubFlags, isHubRequested } from '../../flags/hub-flags.ts';
import { type CliCommand, argocdCommand } from '../cli-command.ts';
import type { RenderOptions } from './render-file.ts';

export const argocdRenderCommand: CliCommand = {
  register(program, run) {
    const command = argocdCommand(program)
      .command('render')
      .description('render the Applications of an ApplicationSet, without Argo CD')
      .argument('<file>', 'YAML with ApplicationSets, and the ConfigMaps and cluster Secrets that they need')
      .option('--hub', 'take clusters, ConfigMaps and decisions from a hub', false)
      .option('--repo <dir>', 'take clusters and decisions from the placements in this folder')
      .option('--cases', 'the file contains recorded cases (JSON Lines, may be gzipped)', false)
      .option('--argocd-namespace <name>', 'the namespace of Argo CD', 'argocd')
      .option(
        '--argocd-version <version>',
        'version of the Argo CD that runs, to be warned where it renders otherwise (default: warned of any version)',
      )
      .addOption(outputOption());
    addHubFlags(command)
      .addHelpText('after', HELP)
      .action(run((io, file: string, options: RenderOptions) => render(io, file, options)));
  },
};

const HELP = `
The command renders the generators list, clusters, clusterDecisionResource, plugin (Berth's own), matrix
and merge. It refuses generators that read a repository or a forge.

With --cases, it writes one line of JSON for each case, and ignores -o.

Exit codes: 0 rendered, 1 error: Argo CD reports an error, too (such as a cluster that it does not know),
or Berth does not render an ApplicationSet.

Examples:
  berth argocd render guestbook.yaml --repo fleet
  berth argocd render guestbook.yaml --hub --kubeconfig hub.kubeconfig -o yaml
  berth argocd render --cases appsets.jsonl.gz
`;

async function render(io: CliIo, file: string, options: RenderOptions): Promise<ExitCode> {
  const refuse = (option: string, problem: string): never => {
    throw new InputError(problem, { code: 'argocd.render.options', subject: option });
  };
  const wantsHub = isHubRequested(options);
  if (wantsHub && options.repo !== undefined) refuse('--repo', 'either a hub or a folder');
  if (options.cases) {
    if (wantsHub || options.repo !== undefined)
      refuse('--cases', 'a case has its own clusters and decisions');
    const { runCases } = await import('./cases/run-cases.ts');
    return runCases(io, file);
  }
  const { renderFile } = await import('./render-file.ts');
  return renderFile(io, file, options);
}
