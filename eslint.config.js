import tseslint from 'typescript-eslint';

const edgeOnly = [
  { object: 'Date', property: 'now', message: 'Take the time from the Clock port.' },
  { object: 'Math', property: 'random', message: 'Take randomness from the Ids port.' },
  { object: 'performance', property: 'now', message: 'Take the time from the Clock port.' },
];

export default tseslint.config(
  { ignores: ['dist/', 'node_modules/', 'coverage/', '**/*.d.ts'] },
  ...tseslint.configs.recommendedTypeChecked,
  {
    languageOptions: { parserOptions: { project: './tsconfig.json', tsconfigRootDir: import.meta.dirname } },
    rules: {
      '@typescript-eslint/no-floating-promises': ['error', { ignoreVoid: false }],
      '@typescript-eslint/no-misused-promises': 'error',
      '@typescript-eslint/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
      '@typescript-eslint/require-await': 'off',
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true, allowBoolean: true }],
      eqeqeq: ['error', 'always', { null: 'ignore' }],
    },
  },
  {
    files: ['functions/**/*.ts'],
    ignores: ['functions/gcp/**', 'functions/index.ts'],
    rules: {
      'no-restricted-properties': ['error', ...edgeOnly],
      'no-restricted-globals': ['error', 'setTimeout', 'setInterval', 'setImmediate', 'fetch'],
      'no-restricted-imports': ['error', { patterns: ['@google-cloud/*', '@grpc/*', '*/local/*'] }],
      'no-restricted-syntax': [
        'error',
        {
          selector: 'NewExpression[callee.name="Date"][arguments.length=0]',
          message: 'Take the time from the Clock port.',
        },
      ],
    },
  },
  {
    files: ['functions/gcp/**/*.ts'],
    ignores: ['**/*.test.ts'],
    rules: {
      'no-restricted-syntax': [
        'error',
        {
          selector: 'ImportExpression[source.value!=/^[.]/]',
          message: 'In the bundle a package imported so has no named exports: import a module of ours that imports it.',
        },
      ],
    },
  },
  {
    // The pure core imports nothing but itself and node:crypto for hashing.
    files: ['functions/core/**/*.ts'],
    rules: {
      'no-restricted-imports': [
        'error',
        { patterns: ['@google-cloud/*', '@grpc/*', '../gcp/*', '../ports*', '../config*', '../log*'] },
      ],
    },
  },
  {
    files: ['test/**/*.ts', '**/*.test.ts'],
    rules: {
      '@typescript-eslint/no-floating-promises': [
        'error',
        {
          ignoreVoid: false,
          allowForKnownSafeCalls: [
            {
              from: 'package',
              package: 'node:test',
              name: ['test', 'it', 'describe', 'suite', 'before', 'after', 'beforeEach', 'afterEach'],
            },
          ],
        },
      ],
    },
  },
  { files: ['**/*.js', '**/*.mjs'], extends: [tseslint.configs.disableTypeChecked] },
);
