import { type OutputFormat, outputOption } from '../../../terminal/output-format.ts';
import type { CliIo, ExitCode } from '../../../terminal/cli-io.ts';
import { withHub } from '../../flags/hub-flags.ts';
import { type CliCommand, addArgocdFlags, argocdCommand, type ArgocdFlags } from '../cli-command.ts';

interface DoctorFlags extends ArgocdFlags {
  readonly url?: string;
  readonly output: OutputFormat;
}

const HELP = `
The command reads ConfigMaps, Secrets, ApplicationSets, PlacementDecisions and rights, and calls the endpoint
of each plugin generator. It changes nothing. The hint below each problem is the command that corrects it.

Exit codes: 0 no errors, 1 errors.

Examples:
  berth argocd doctor
  berth argocd doctor --argocd-namespace openshift-gitops -o json
  berth argocd doctor --url https://localhost:8443   # with kubectl port-forward service/berth 8443
`;

export const argocdDoctorCommand: CliCommand = {
  register(program, run) {
    const command = argocdCommand(program)
      .command('doctor')
      .description('find problems between Argo CD and Berth, and how to correct them')
      .option('--url <url>', 'address of Berth from this machine, instead of the baseUrl of the ConfigMaps')
      .addOption(outputOption());
    addArgocdFlags(command)
      .addHelpText('after', HELP)
      .action(run((io, flags: DoctorFlags) => doctor(io, flags)));
  },
};

async function doctor(io: CliIo, flags: DoctorFlags): Promise<ExitCode> {
  const { diagnose } = await import('../../../../../plugin/doctor/diagnose.ts');
  const { readArgoFacts, probeEndpoint } = await import('./read-argo-facts.ts');
  const facts = await withHub(io, flags, (hub) =>
    readArgoFacts(hub, flags.argocdNamespace, (baseUrl, token) => probeEndpoint(flags.url ?? baseUrl, token)),
  );
  const { printChecks } = await import('../../../terminal/problem-report.ts');
  return (await printChecks(io, diagnose(facts), flags.output)) === 'error' ? 1 : 0;
}
