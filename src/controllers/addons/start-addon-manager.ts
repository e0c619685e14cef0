import type { AddOnDuty } from '../../core/addon/addon-duties.ts';
import type { HubController } from '../duties/cached-controller.ts';
import { runControllers, type RunningControllers } from '../duties/run-controllers.ts';
import { AddOnCertificates } from './addon-certificates.ts';
import { AddOnConfigurator } from './addon-configurator.ts';
import type { AddOnManagerOptions } from './addon-controller.ts';
import { AddOnDeployer } from './addon-deployer.ts';
import { AddOnUnknown, FeatureLabels } from './addon-health.ts';
import { AddOnInstaller } from './addon-installer.ts';
import { AddOnOwner } from './addon-owner.ts';
import { AddOnProgress } from './addon-progress.ts';
import { AddOnRegistration } from './addon-registration.ts';
import { AddOnTokens } from './addon-tokens.ts';

const CONTROLLERS: Readonly<Record<AddOnDuty, (options: AddOnManagerOptions) => readonly HubController[]>> = {
  install: (options) => [new AddOnOwner(options), new AddOnInstaller(options)],
  configuration: (options) => [new AddOnConfigurator(options), new AddOnProgress(options)],
  deployment: (options) => [new AddOnDeployer(options)],
  registration: (options) => [
    new AddOnRegistration(options),
    new AddOnCertificates(options),
    new AddOnTokens(options),
  ],
  health: (options) => [new AddOnUnknown(options), new FeatureLabels(options)],
};

/** Runs the given controllers of add-ons on the hub. */
export function startAddOnManager(
  options: AddOnManagerOptions,
  duties: readonly AddOnDuty[],
): RunningControllers {
  const controllers = duties.flatMap((duty) => CONTROLLERS[duty](options));
  return runControllers(options, controllers, 'add-ons');
}
