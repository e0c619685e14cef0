/** A program that prints credentials. Source: k8s.io/client-go, tools/clientcmd/api/v1 ExecConfig. */
export interface ExecPluginConfig {
  /** A name on the PATH, or an absolute path. */
  readonly command: string;
  readonly args: readonly string[];
  readonly env: readonly { readonly name: string; readonly value: string }[];
  readonly apiVersion: string;
  readonly installHint: string;
  readonly provideClusterInfo: boolean;
  /** Never, IfAvailable or Always; anything else is refused when the user is used. */
  readonly interactiveMode: string;
}
