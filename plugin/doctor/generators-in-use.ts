import type { KubeObject } from '@berth/kube/model/object-meta';

type Fields = Readonly<Record<string, unknown>>;

/** A generator that reads decisions, at any depth of an ApplicationSet. */
export type DecisionGenerator = {
  /** `NAMESPACE/NAME` */
  readonly applicationSet: string;
  /** The path to the generator in the form of `kubectl patch --type=json`: `/spec/generators/0/plugin`. */
  readonly path: string;
  readonly configMap: string;
  readonly requeueAfterSeconds: number | undefined;
} & (
  | { readonly kind: 'plugin'; readonly parameters: Fields }
  | {
      readonly kind: 'clusterDecisionResource';
      readonly name: string;
      readonly labels: Readonly<Record<string, string>>;
    }
);

/** The plugin and clusterDecisionResource generators of an ApplicationSet, including those inside of matrix and merge. */
export function decisionGenerators({ metadata, spec }: KubeObject): readonly DecisionGenerator[] {
  const applicationSet = `${metadata.namespace ?? ''}/${metadata.name}`;
  const found: DecisionGenerator[] = [];
  const collect = (list: unknown, path: string): void => {
    for (const [index, generator] of asList(list).entries()) {
      const ownPath = `${path}/${index}`;
      const { plugin, clusterDecisionResource, matrix, merge } = asFields(generator);
      if (plugin !== undefined)
        found.push(pluginGenerator(asFields(plugin), applicationSet, `${ownPath}/plugin`));
      if (clusterDecisionResource !== undefined)
        found.push(
          decisionResource(
            asFields(clusterDecisionResource),
            applicationSet,
            `${ownPath}/clusterDecisionResource`,
          ),
        );
      collect(asFields(matrix)['generators'], `${ownPath}/matrix/generators`);
      collect(asFields(merge)['generators'], `${ownPath}/merge/generators`);
    }
  };
  collect(asFields(spec)['generators'], '/spec/generators');
  return found;
}

function pluginGenerator(plugin: Fields, applicationSet: string, path: string): DecisionGenerator {
  return {
    kind: 'plugin',
    applicationSet,
    path,
    configMap: asText(asFields(plugin['configMapRef'])['name']),
    requeueAfterSeconds: asNumber(plugin['requeueAfterSeconds']),
    parameters: asFields(asFields(plugin['input'])['parameters']),
  };
}

function decisionResource(resource: Fields, applicationSet: string, path: string): DecisionGenerator {
  const labels = asFields(asFields(resource['labelSelector'])['matchLabels']);
  return {
    kind: 'clusterDecisionResource',
    applicationSet,
    path,
    configMap: asText(resource['configMapRef']),
    requeueAfterSeconds: asNumber(resource['requeueAfterSeconds']),
    name: asText(resource['name']),
    labels: Object.fromEntries(Object.entries(labels).map(([key, value]) => [key, asText(value)])),
  };
}

function asFields(value: unknown): Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : {};
}

function asList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function asText(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function asNumber(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined;
}
