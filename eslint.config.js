import tseslint from 'typescript-eslint';

/** House rules of design: sizes, purity of core, no floating promises. Reasons stand in CONTRIBUTING.md. */
export default tseslint.config(
  { ignores: ['dist/', 'node_modules/', 'coverage/', '.cache/', '**/*.cjs', '.berth/'] },
  {
    files: ['**/*.ts'],
    extends: [tseslint.configs.recommendedTypeChecked],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      eqeqeq: ['error', 'always', { null: 'ignore' }],
      'no-console': 'error',
      'no-restricted-exports': [
        'error',
        { restrictDefaultExports: { direct: true, named: true, defaultFrom: true } },
      ],
      'prefer-const': 'error',
      'max-depth': ['error', 4],
      'max-params': ['error', 4],
      'max-lines': ['error', { max: 500, skipBlankLines: true, skipComments: true }],
      'max-lines-per-function': ['error', { max: 70, skipBlankLines: true, skipComments: true }],
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/no-misused-promises': 'error',
      '@typescript-eslint/switch-exhaustiveness-check': [
        'error',
        { considerDefaultExhaustiveForUnions: true },
      ],
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
      '@typescript-eslint/require-await': 'off',
    },
  },
  {
    // Core is pure: no clock, no randomness, no environment, no I/O.
    files: [
      'src/core/**/*.ts',
      'packages/{kube-cel,kube-jsonpath,ocm,placement}/src/**/*.ts',
      'packages/kube/src/model/**/*.ts',
      'packages/runtime/src/{text,lists,json,problem}/**/*.ts',
    ],
    rules: {
      'no-restricted-globals': [
        'error',
        'process',
        'setTimeout',
        'setInterval',
        'setImmediate',
        'fetch',
        'Buffer',
      ],
      'no-restricted-properties': [
        'error',
        { object: 'Math', property: 'random', message: 'core is deterministic' },
        { object: 'Date', property: 'now', message: 'time is an argument in core' },
      ],
    },
  },
  {
    // Rendering gives the same for the same input.
    files: ['packages/{go-template,applicationset}/src/**/*.ts'],
    rules: {
      'no-restricted-globals': ['error', 'process', 'setTimeout', 'setInterval', 'setImmediate', 'fetch'],
      'no-restricted-properties': [
        'error',
        { object: 'Math', property: 'random', message: 'rendering is deterministic' },
        { object: 'Date', property: 'now', message: 'rendering does not depend on the time' },
      ],
    },
  },
  {
    files: ['test/**/*.ts', 'packages/*/test/**/*.ts', 'packages/test-kit/**/*.ts', '*.config.ts'],
    rules: {
      'max-lines-per-function': 'off',
      'max-lines': 'off',
      'no-console': 'off',
      'no-restricted-exports': 'off',
      '@typescript-eslint/no-unsafe-assignment': 'off',
      '@typescript-eslint/no-unsafe-member-access': 'off',
      '@typescript-eslint/no-unsafe-argument': 'off',
      '@typescript-eslint/no-unsafe-call': 'off',
      '@typescript-eslint/no-unsafe-return': 'off',
    },
  },
);
