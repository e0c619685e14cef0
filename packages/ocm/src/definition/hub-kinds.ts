import { ADDON_CONVERSIONS } from './addon-conversions.ts';
import { allCrds } from './ocm-crds.ts';

/** What an API server has to be told to serve OCM's kinds: their definitions, and how their versions are converted. */
export const OCM_HUB_KINDS = { definitions: allCrds(), conversions: ADDON_CONVERSIONS };
