import type { AddOnEvent } from '../../core/addon/addon-duties.ts';
import { CachedController, type HubControllerOptions } from '../duties/cached-controller.ts';

/** The field manager of what the manager of add-ons writes. */
export const ADDON_MANAGER = 'berth-addons';

/** Of works the cache keeps the spec of those with the label of an add-on. */
export interface AddOnOptions extends HubControllerOptions {
  readonly onEvent?: ((event: AddOnEvent) => void) | undefined;
}

/** A controller of add-ons. Objects of the add-on API are read and written as v1alpha1, which every hub serves and stores. */
export abstract class AddOnController extends CachedController<AddOnOptions> {}
