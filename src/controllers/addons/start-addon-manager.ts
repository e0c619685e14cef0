import type { AddOnDuty } from '../../core/addon/addon-duties.ts';
import type { HubController } from '../duties/cached-controller.ts';
import { runControllers, type RunningControllers } from '../duties/run-controllers.ts';
import type { AddOnOptions } from './addon-controller.ts';
import { AddOnDeployer } from './addon-deployer.ts';
import { AddOnOwner } from './addon-owner.ts';

const CONTROLLERS: Readonly<Record<AddOnDuty, (options: AddOnOptions) => readonly HubController[]>> = {
  install: (options) => [new AddOnOwner(options)],
  configuration: () => [],
  deployment: (options) => [new AddOnDeployer(options)],
  registration: () => [],
  health: () => [],
};

/** Runs the given controllers of add-ons on the hub. */
export function startAddOnManager(options: AddOnOptions, duties: readonly AddOnDuty[]): RunningControllers {
  const controllers = duties.flatMap((duty) => CONTROLLERS[duty](options));
  return runControllers(options, controllers, 'add-ons');
}
