import type { AddOnDuty } from '../../core/addon/addon-duties.ts';
import type { HubController } from '../duties/cached-controller.ts';
import { runControllers, type RunningControllers } from '../duties/run-controllers.ts';
import type { AddOnManagerOptions } from './addon-controller.ts';
import { AddOnConfigurator } from './addon-configurator.ts';
import { AddOnDeployer } from './addon-deployer.ts';
import { AddOnInstaller } from './addon-installer.ts';
import { AddOnOwner } from './addon-owner.ts';
import { AddOnProgress } from './addon-progress.ts';

const CONTROLLERS: Readonly<Record<AddOnDuty, (options: AddOnManagerOptions) => readonly HubController[]>> = {
  install: (options) => [new AddOnOwner(options), new AddOnInstaller(options)],
  configuration: (options) => [new AddOnConfigurator(options), new AddOnProgress(options)],
  deployment: (options) => [new AddOnDeployer(options)],
  registration: () => [],
  health: () => [],
};

/** Runs the given controllers of add-ons on the hub. */
export function startAddOnManager(
  options: AddOnManagerOptions,
  duties: readonly AddOnDuty[],
): RunningControllers {
  const controllers = duties.flatMap((duty) => CONTROLLERS[duty](options));
  return runControllers(options, controllers, 'add-ons');
}
