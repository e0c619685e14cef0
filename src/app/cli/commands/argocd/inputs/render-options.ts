import type { OutputFormat } from '../../../../terminal/output-format.ts';
import type { HubFlags } from '../../../flags/hub-flags.ts';

/** The options of `berth argocd render`. */
export interface RenderOptions extends HubFlags {
  readonly hub: boolean;
  readonly repo?: string;
  readonly cases: boolean;
  readonly argocdNamespace: string;
  readonly argocdVersion?: string;
  readonly output: OutputFormat;
}
