import { SERVE_RIGHTS } from '../../core/rbac/rights-command.ts';
import type { AddOnDuty } from '../../core/addon/addon-duties.ts';
import type { HubController } from '@berth/kube/controller/cached-controller';
import { runControllers, type RunningControllers } from '@berth/kube/controller/run-controllers';
import { AddOnCertificates } from '@berth/addon/manager/addon-certificates';
import { AddOnConfigurator } from './addon-configurator.ts';
import type { AddOnManagerOptions } from './addon-inventory.ts';
import { AddOnDeployer } from '@berth/addon/manager/addon-deployer';
import { AddOnUnknown, FeatureLabels } from './addon-health.ts';
import { AddOnInstaller } from './addon-installer.ts';
import { AddOnOwner } from './addon-owner.ts';
import { AddOnProgress } from './addon-progress.ts';
import { AddOnRegistration } from '@berth/addon/manager/addon-registration';
import { TemplateDeployment, TemplateRegistration } from '@berth/addon/manager/template-source';
import { AddOnTokens } from '@berth/addon/manager/addon-tokens';

type MakeControllers = (
  options: AddOnManagerOptions,
  registration: AddOnRegistration | undefined,
) => readonly HubController[];

const CONTROLLERS: Readonly<Record<AddOnDuty, MakeControllers>> = {
  install: (options) => [new AddOnOwner(options), new AddOnInstaller(options)],
  configuration: (options, registration) => [
    new AddOnConfigurator(options, registration),
    new AddOnProgress(options),
  ],
  deployment: (options) => [new AddOnDeployer(options, new TemplateDeployment(options))],
  registration: (options, registration) => [
    ...(registration === undefined ? [] : [registration]),
    new AddOnCertificates(options, new TemplateRegistration(options)),
    new AddOnTokens(options),
  ],
  health: (options) => [new AddOnUnknown(options), new FeatureLabels(options)],
};

/** Runs the given controllers of add-ons on the hub. */
export function startAddOnManager(
  options: AddOnManagerOptions,
  duties: readonly AddOnDuty[],
): RunningControllers {
  const registration = duties.includes('registration')
    ? new AddOnRegistration(options, new TemplateRegistration(options))
    : undefined;
  const controllers = duties.flatMap((duty) => CONTROLLERS[duty](options, registration));
  return runControllers({ ...options, rightsCommand: SERVE_RIGHTS }, controllers, 'add-ons');
}
